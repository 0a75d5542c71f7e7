package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/collection"
	"tasklens/internal/knowledge"
	"tasklens/internal/measure"
)

// DocumentsFolder is a collection's folder of documents.
const DocumentsFolder = "documents"

// DocumentQuestions are the files of questions about documents: one that may be looked at during
// tuning, and one that is only counted. The latter is optional.
var DocumentQuestions = []string{"document_questions.jsonl", "document_questions_apart.jsonl"}

// DocumentQuestion is a question and the one document that answers it. A paraphrase shares few
// words with the document.
type DocumentQuestion struct {
	Question   string `json:"question"`
	Document   string `json:"document"` // its file in DocumentsFolder
	Paraphrase bool   `json:"paraphrase"`
}

// ReadDocumentQuestions reads one of a collection's files of document questions.
func ReadDocumentQuestions(folder, file string) ([]DocumentQuestion, error) {
	return readQuestions(filepath.Join(folder, file), func(one DocumentQuestion) error {
		if _, err := os.Stat(filepath.Join(folder, DocumentsFolder, one.Document)); err != nil || one.Document == "" || strings.TrimSpace(one.Question) == "" {
			return errors.New("it must have a question and an existing document")
		}
		return nil
	})
}

// documentLimit is the maximum rank considered.
const documentLimit = 100

// DocumentRanking is the quality of both document searches (basic first), that of the hybrid search
// without temporal class weights, and the number of enriched documents.
type DocumentRanking struct {
	Rows            []Row
	Enriched, Total int
}

// RankDocuments sends every question to both searches, with the service's threshold. The requests
// do not count as retrievals.
func RankDocuments(ctx context.Context, service Service, questions []DocumentQuestion) (ranking DocumentRanking, err error) {
	queries := make([]collection.Query, len(questions))
	for i, q := range questions {
		queries[i] = collection.Query{Text: q.Question, Judged: measure.Judged{knowledge.IDOfPath(DocumentsFolder + "/" + q.Document): 1}}
	}
	if ranking.Enriched, ranking.Total, err = service.enriched(ctx); err != nil {
		return ranking, err
	}
	var basic, hybrid, timeless [][]string
	if basic, _, err = service.rankDocuments(ctx, queries, false); err != nil {
		return ranking, err
	}
	if hybrid, timeless, err = service.rankDocuments(ctx, queries, true); err != nil {
		return ranking, err
	}
	ranking.Rows = []Row{newRow("basic", basic, queries), newRow("hybrid", hybrid, queries), newRow("hybrid, every class 1", timeless, queries)}
	return ranking, nil
}

// rankDocuments sends every question to one search. timeless is the order without temporal class
// weights.
func (s Service) rankDocuments(ctx context.Context, queries []collection.Query, hybrid bool) (ranked, timeless [][]string, err error) {
	ranked, timeless = make([][]string, len(queries)), make([][]string, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i, q := range queries {
		group.Go(func() error {
			found, err := s.documents(ctx, q.Text, hybrid)
			ranked[i] = idsOf(found)
			slices.SortStableFunc(found, func(a, b foundDocument) int {
				return cmp.Compare(b.FinalScore/b.TemporalWeight, a.FinalScore/a.TemporalWeight)
			})
			timeless[i] = idsOf(found)
			return err
		})
	}
	return ranked, timeless, group.Wait()
}

// foundDocument is a ranked document. The scores are set by the hybrid search.
type foundDocument struct {
	ID             string  `json:"id"`
	TemporalWeight float64 `json:"temporal_weight"`
	FinalScore     float64 `json:"final_score"`
}

func idsOf(found []foundDocument) (ids []string) {
	for _, document := range found {
		ids = append(ids, document.ID)
	}
	return ids
}

// enriched returns the number of enriched documents and of all documents.
func (s Service) enriched(ctx context.Context) (enriched, total int, err error) {
	var stats struct{ Enriched, Total int }
	if err := s.get(ctx, "/api/knowledge/enrich/stats", &stats); err != nil {
		return 0, 0, fmt.Errorf("count enriched documents: %w", err)
	}
	return stats.Enriched, stats.Total, nil
}

// documents returns the results of a document search with any similarity, because the ranking is
// measured and not the threshold.
func (s Service) documents(ctx context.Context, query string, hybrid bool) ([]foundDocument, error) {
	parameters := url.Values{"q": {query}, "hybrid": {strconv.FormatBool(hybrid)}, "limit": {strconv.Itoa(documentLimit)}, "threshold": {"0"}, "track": {"false"}}
	var found struct{ Results []foundDocument }
	if err := s.get(ctx, "/api/knowledge/search?"+parameters.Encode(), &found); err != nil {
		return nil, fmt.Errorf("search documents for %q: %w", query, err)
	}
	return found.Results, nil
}

// Print prints the ranking for all questions, and for paraphrases and the others separately.
func (r DocumentRanking) Print(to io.Writer, name string, questions []DocumentQuestion) error {
	var out strings.Builder
	paraphrases := 0
	for _, q := range questions {
		paraphrases += one(q.Paraphrase)
	}
	fmt.Fprintf(&out, "%s: %d questions about documents, %d of them paraphrases; %d of %d documents enriched\n\n%-24s %8s %18s %14s %10s %7s\n",
		name, len(questions), paraphrases, r.Enriched, r.Total, "nDCG@10", "all", "its own words", "paraphrases", "Recall@10", "MRR@10")
	for _, row := range r.Rows {
		var own, other []float64
		for i, q := range questions {
			if q.Paraphrase {
				other = append(other, row.NDCG10[i])
			} else {
				own = append(own, row.NDCG10[i])
			}
		}
		fmt.Fprintf(&out, "%-24s %8.3f %18.3f %14.3f %10.3f %7.3f\n", row.Name,
			measure.Mean(row.NDCG10), measure.Mean(own), measure.Mean(other), measure.Mean(row.Recall10), measure.Mean(row.MRR10))
	}
	basic, hybrid := r.Rows[0], r.Rows[1]
	differences := measure.Differences(hybrid.NDCG10, basic.NDCG10)
	fmt.Fprintf(&out, "\n%s − %s: nDCG@10 %+.4f, standard error %.4f\n", hybrid.Name, basic.Name, measure.Mean(differences), measure.StandardError(differences))
	_, err := io.WriteString(to, out.String())
	return err
}
