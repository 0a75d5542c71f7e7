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

// DocumentsFolder is where a collection has its documents.
const DocumentsFolder = "documents"

// DocumentQuestions are the files of what is asked of them: questions that may be looked at while
// choices are made, and others, set apart, which are only counted. A collection may be without the
// latter.
var DocumentQuestions = []string{"document_questions.jsonl", "document_questions_apart.jsonl"}

// DocumentQuestion is a question and the one document that answers it. A paraphrase shares few
// words with it.
type DocumentQuestion struct {
	Question   string `json:"question"`
	Document   string `json:"document"` // its file in DocumentsFolder
	Paraphrase bool   `json:"paraphrase"`
}

// ReadDocumentQuestions reads what a collection asks of its documents in one of its files.
func ReadDocumentQuestions(folder, file string) ([]DocumentQuestion, error) {
	return readQuestions(filepath.Join(folder, file), func(one DocumentQuestion) error {
		if _, err := os.Stat(filepath.Join(folder, DocumentsFolder, one.Document)); err != nil || one.Document == "" || strings.TrimSpace(one.Question) == "" {
			return errors.New("it must have a question, and a document that is there")
		}
		return nil
	})
}

// documentLimit is how far a ranking of documents is looked at.
const documentLimit = 100

// DocumentRanking is how well both searches find documents, the basic one first, how well the
// hybrid one would if no temporal class weighed less than another, and how many of the documents
// were enriched then.
type DocumentRanking struct {
	Rows            []Row
	Enriched, Total int
}

// RankDocuments asks the service every question by both searches, at its own threshold. Nothing
// that is asked counts as a retrieval.
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

// rankDocuments asks every question by one search. timeless is the order if no temporal class
// weighed less than another.
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

// foundDocument is a document at its place; the scores are the hybrid search's.
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

// enriched counts the documents that the service has, and those of them that are enriched.
func (s Service) enriched(ctx context.Context) (enriched, total int, err error) {
	var stats struct{ Enriched, Total int }
	if err := s.get(ctx, "/api/knowledge/enrich/stats", &stats); err != nil {
		return 0, 0, fmt.Errorf("count enriched documents: %w", err)
	}
	return stats.Enriched, stats.Total, nil
}

// documents are what a search for documents gives, whatever its similarity: a ranking is measured,
// and no threshold.
func (s Service) documents(ctx context.Context, query string, hybrid bool) ([]foundDocument, error) {
	parameters := url.Values{"q": {query}, "hybrid": {strconv.FormatBool(hybrid)}, "limit": {strconv.Itoa(documentLimit)}, "threshold": {"0"}, "track": {"false"}}
	var found struct{ Results []foundDocument }
	if err := s.get(ctx, "/api/knowledge/search?"+parameters.Encode(), &found); err != nil {
		return nil, fmt.Errorf("search documents for %q: %w", query, err)
	}
	return found.Results, nil
}

// Print writes a ranking by these questions as plain text, for all of them and for paraphrases and
// others apart.
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
