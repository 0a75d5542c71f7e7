package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/knowledge"
	"tasklens/internal/measure"
)

// DocumentsFolder is where a collection has its documents, and documentQuestions what is asked of them.
const (
	DocumentsFolder   = "documents"
	documentQuestions = "document_questions.jsonl"
)

// DocumentQuestion is a question and the one document that answers it. A paraphrase shares few words with it.
type DocumentQuestion struct {
	Question   string `json:"question"`
	Document   string `json:"document"` // its file in DocumentsFolder
	Paraphrase bool   `json:"paraphrase"`
}

// ReadDocumentQuestions reads what a collection asks of its documents; none where it has no such file.
func ReadDocumentQuestions(folder string) (list []DocumentQuestion, err error) {
	file, err := os.Open(filepath.Join(folder, documentQuestions))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	for {
		var one DocumentQuestion
		if err := decoder.Decode(&one); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, question %d: %w", documentQuestions, len(list)+1, err)
		}
		if _, err := os.Stat(filepath.Join(folder, DocumentsFolder, one.Document)); err != nil || one.Document == "" || strings.TrimSpace(one.Question) == "" {
			return nil, fmt.Errorf("%s, question %d: it must have a question, and a document that is there", documentQuestions, len(list)+1)
		}
		list = append(list, one)
	}
}

// documentLimit is how far a ranking of documents is looked at.
const documentLimit = 100

// RankDocuments asks the service every question by both searches for documents, the basic one first, at its own
// threshold. Nothing that is asked counts as a retrieval.
func RankDocuments(ctx context.Context, service Service, questions []DocumentQuestion) (rows []Row, err error) {
	queries := make([]Query, len(questions))
	for i, q := range questions {
		queries[i] = Query{Text: q.Question, Judged: measure.Judged{knowledge.IDOfPath(DocumentsFolder + "/" + q.Document): 1}}
	}
	for _, way := range []struct {
		name   string
		hybrid bool
	}{{"basic", false}, {"hybrid", true}} {
		ranked := make([][]string, len(queries))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(clients)
		for i, q := range queries {
			group.Go(func() (err error) {
				ranked[i], err = service.documents(ctx, q.Text, way.hybrid)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		rows = append(rows, newRow(way.name, ranked, queries))
	}
	return rows, nil
}

// documents are the ids that a search for documents gives.
func (s Service) documents(ctx context.Context, query string, hybrid bool) (ids []string, err error) {
	parameters := url.Values{"q": {query}, "hybrid": {strconv.FormatBool(hybrid)}, "limit": {strconv.Itoa(documentLimit)}, "track": {"false"}}
	var found struct {
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
	}
	if err := s.get(ctx, "/api/knowledge/search?"+parameters.Encode(), &found); err != nil {
		return nil, fmt.Errorf("search documents for %q: %w", query, err)
	}
	for _, r := range found.Results {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// PrintDocuments writes the rankings as plain text, for all questions and for paraphrases and others apart.
func PrintDocuments(to io.Writer, name string, questions []DocumentQuestion, rows []Row) error {
	var out strings.Builder
	paraphrases := 0
	for _, q := range questions {
		paraphrases += one(q.Paraphrase)
	}
	fmt.Fprintf(&out, "%s: %d questions about documents, %d of them paraphrases\n\n%-24s %8s %18s %14s %10s %7s\n",
		name, len(questions), paraphrases, "nDCG@10", "all", "its own words", "paraphrases", "Recall@10", "MRR@10")
	for _, row := range rows {
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
	basic, hybrid := rows[0], rows[1]
	differences := measure.Differences(hybrid.NDCG10, basic.NDCG10)
	fmt.Fprintf(&out, "\n%s − %s: nDCG@10 %+.4f, standard error %.4f\n", hybrid.Name, basic.Name, measure.Mean(differences), measure.StandardError(differences))
	_, err := io.WriteString(to, out.String())
	return err
}
