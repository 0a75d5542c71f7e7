package eval

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tasklens/scripts/lab/measure"
)

// Query is a text to search for, with the keys of the tickets that it should find.
type Query struct {
	ID     string         `json:"query_id"`
	Text   string         `json:"text"`
	Judged measure.Judged `json:"-"`
}

// ReadQueries reads a collection's queries and judgements: queries.jsonl, plain or gzipped, and
// qrels.tsv with the columns query_id, ticket_id (the ticket's key) and relevance under a header
// line. Queries without a relevant ticket cannot be measured and are left out.
func ReadQueries(folder string) (kept []Query, err error) {
	judged, err := readJudgements(filepath.Join(folder, "qrels.tsv"))
	if err != nil {
		return nil, fmt.Errorf("read judgements: %w", err)
	}
	known := map[string]bool{}
	queries, err := readQuestions(filepath.Join(folder, "queries.jsonl"), false, func(q Query) error {
		if q.ID == "" || strings.TrimSpace(q.Text) == "" || known[q.ID] {
			return fmt.Errorf("query_id and text must not be empty, nor a query_id occur twice")
		}
		known[q.ID] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read queries: %w", err)
	}
	for _, q := range queries {
		if q.Judged = judged[q.ID]; len(q.Judged) > 0 {
			kept = append(kept, q)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s has no query with a relevant ticket", folder)
	}
	return kept, nil
}

func readJudgements(path string) (map[string]measure.Judged, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	judged := map[string]measure.Judged{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if i == 0 {
			if strings.Join(fields, " ") != "query_id ticket_id relevance" {
				return nil, fmt.Errorf("%s must begin with a line of query_id, ticket_id and relevance", path)
			}
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d has not three columns", path, i+1)
		}
		gain, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || math.IsNaN(gain) || math.IsInf(gain, 0) {
			return nil, fmt.Errorf("%s:%d: relevance %q is not a number", path, i+1, fields[2])
		}
		if gain <= 0 {
			continue // judged as not relevant
		}
		if judged[fields[0]] == nil {
			judged[fields[0]] = measure.Judged{}
		}
		judged[fields[0]][fields[1]] = gain
	}
	return judged, nil
}
