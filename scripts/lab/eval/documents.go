package eval

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/load"
	"tasklens/scripts/lab/measure"
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
	return readQuestions(filepath.Join(folder, file), true, func(one DocumentQuestion) error {
		if _, err := os.Stat(filepath.Join(folder, DocumentsFolder, one.Document)); err != nil || one.Document == "" || strings.TrimSpace(one.Question) == "" {
			return errors.New("it must have a question and an existing document")
		}
		return nil
	})
}

// documentLimit is the maximum rank considered.
const documentLimit = 100

// RankDocuments sends every question to the basic and the hybrid search, at any similarity. The
// requests do not count as retrievals.
func RankDocuments(ctx context.Context, service Service, questions []DocumentQuestion) ([]Row, error) {
	queries := make([]Query, len(questions))
	for i, q := range questions {
		queries[i] = Query{Text: q.Question, Judged: measure.Judged{load.IDOfPath(DocumentsFolder, q.Document): 1}}
	}
	basic, err := service.rankDocuments(ctx, queries, false)
	if err != nil {
		return nil, err
	}
	hybrid, err := service.rankDocuments(ctx, queries, true)
	if err != nil {
		return nil, err
	}
	return []Row{newRow("basic", basic, queries), newRow("hybrid", hybrid, queries)}, nil
}

// Documents prints the rankings for the questions of one file. The service says how many documents
// are enriched.
func (r Result) Documents(ctx context.Context, service Service, file string, rows []Row) error {
	enriched, total, err := service.enriched(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		row.Name = fmt.Sprintf("%s, %s, %d of %d enriched", strings.TrimSuffix(file, ".jsonl"), row.Name, enriched, total)
		if err := r.row(row); err != nil {
			return err
		}
	}
	return nil
}

// rankDocuments sends every question to one search.
func (s Service) rankDocuments(ctx context.Context, queries []Query, hybrid bool) ([][]string, error) {
	ranked := make([][]string, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i, q := range queries {
		group.Go(func() (err error) {
			ranked[i], err = s.documents(ctx, q.Text, hybrid)
			return err
		})
	}
	return ranked, group.Wait()
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
func (s Service) documents(ctx context.Context, query string, hybrid bool) (ids []string, err error) {
	parameters := url.Values{"q": {query}, "hybrid": {strconv.FormatBool(hybrid)}, "limit": {strconv.Itoa(documentLimit)}, "threshold": {"0"}, "track": {"false"}}
	var found struct{ Results []struct{ ID string } }
	if err := s.get(ctx, "/api/knowledge/search?"+parameters.Encode(), &found); err != nil {
		return nil, fmt.Errorf("search documents for %q: %w", query, err)
	}
	for _, document := range found.Results {
		ids = append(ids, document.ID)
	}
	return ids, nil
}
