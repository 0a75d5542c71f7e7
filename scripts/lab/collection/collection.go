// Package collection reads judged queries from a folder. It does not know what they measure.
package collection

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tasklens/scripts/lab/measure"
)

// Query is a text to search for, with the keys of the tickets that it should find.
type Query struct {
	ID     string
	Text   string
	Judged measure.Judged
}

// Read reads a collection's queries and judgements: queries.jsonl, plain or gzipped, with
// {"query_id","text"} per line, and qrels.tsv with the columns query_id, ticket_id (the ticket's
// key) and relevance under a header line. Queries without a relevant ticket cannot be measured and
// are left out.
func Read(folder string) ([]Query, error) {
	judged, err := readJudgements(filepath.Join(folder, "qrels.tsv"))
	if err != nil {
		return nil, fmt.Errorf("read judgements: %w", err)
	}
	queries, err := readQueries(filepath.Join(folder, "queries.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read queries: %w", err)
	}
	var kept []Query
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

func readQueries(path string) ([]Query, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		path += ".gz"
		file, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var plain io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if plain, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("unzip %s: %w", path, err)
		}
	}
	var queries []Query
	known := map[string]bool{}
	decoder := json.NewDecoder(plain)
	for {
		var row struct {
			ID   string `json:"query_id"`
			Text string `json:"text"`
		}
		if err := decoder.Decode(&row); err == io.EOF {
			return queries, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, query %d: %w", path, len(queries)+1, err)
		}
		if row.ID == "" || strings.TrimSpace(row.Text) == "" || known[row.ID] {
			return nil, fmt.Errorf("%s, query %d: query_id and text must not be empty, nor a query_id occur twice", path, len(queries)+1)
		}
		known[row.ID] = true
		queries = append(queries, Query{ID: row.ID, Text: row.Text})
	}
}

func readJudgements(path string) (map[string]measure.Judged, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	judged := map[string]measure.Judged{}
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Split(strings.TrimSpace(lines.Text()), "\t")
		if number == 1 {
			if strings.Join(fields, " ") != "query_id ticket_id relevance" {
				return nil, fmt.Errorf("%s must begin with a line of query_id, ticket_id and relevance", path)
			}
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d has not three columns", path, number)
		}
		gain, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || math.IsNaN(gain) || math.IsInf(gain, 0) {
			return nil, fmt.Errorf("%s:%d: relevance %q is not a number", path, number, fields[2])
		}
		if gain <= 0 {
			continue // judged as not relevant
		}
		if judged[fields[0]] == nil {
			judged[fields[0]] = measure.Judged{}
		}
		judged[fields[0]][fields[1]] = gain
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return judged, nil
}
