// Package calibrate measures, on the user's data, how similar queries are to the tickets that they
// should find and to other tickets, and recommends a threshold. It knows neither HTTP nor where
// settings come from.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"tasklens/internal/measure"
	"tasklens/internal/vector"
)

const (
	sampled = 200 // maximum number of queries compared
	batch   = 25  // queries per call
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model embeds queries.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, tokens int, err error)
}

// Pair is a query and a ticket that it should find.
type Pair struct {
	Query     string
	TicketKey string
}

// Report holds the measurements: for each query, the greatest cosine similarity to a chunk of the
// ticket that it should find, and to tickets that only other queries should find.
type Report struct {
	Model              string
	Judged             bool // pairs were given; otherwise each ticket's name should find the ticket
	Duplicates         int  // pairs of known duplicates: the name of one should find the other
	Matches, Strangers []float64
}

// Measure compares pairs by a model's embeddings. Without pairs it compares the names of tickets
// with the tickets.
func Measure(ctx context.Context, db Database, model Model, name string, pairs []Pair) (Report, error) {
	report := Report{Model: name, Judged: len(pairs) > 0}
	if !report.Judged {
		var err error
		if pairs, report.Duplicates, err = names(ctx, db, name); err != nil {
			return Report{}, err
		}
	}
	related := relevant{} // from all pairs: the ones skipped below also name relevant tickets
	for _, pair := range pairs {
		related.add(pair)
	}
	// Sample evenly from all pairs.
	if step := float64(len(pairs)) / sampled; step > 1 {
		var some []Pair
		for i := range sampled {
			some = append(some, pairs[int(float64(i)*step)])
		}
		pairs = some
	}
	keys := make([]string, len(pairs))
	for i, pair := range pairs {
		keys[i] = pair.TicketKey
	}
	for start := 0; start < len(pairs); start += batch {
		end := min(start+batch, len(pairs))
		if err := report.compare(ctx, db, model, pairs[start:end], keys, start, related); err != nil {
			return Report{}, err
		}
	}
	if len(report.Matches) == 0 || len(report.Strangers) == 0 {
		return Report{}, errors.New("too few tickets are embedded by " + report.Model + ": import some first")
	}
	return report, nil
}

// relevant maps each query to the tickets that it should find. Keys are in lower case.
type relevant map[string]map[string]bool

func (r relevant) add(pair Pair) {
	if r[pair.Query] == nil {
		r[pair.Query] = map[string]bool{}
	}
	r[pair.Query][strings.ToLower(pair.TicketKey)] = true
}

func (r relevant) has(query, ticketKey string) bool { return r[query][strings.ToLower(ticketKey)] }

func names(ctx context.Context, db Database, model string) (pairs []Pair, duplicates int, err error) {
	var rows []struct {
		TicketKey  string `json:"ticket_key"`
		TicketName string `json:"ticket_name"`
		Duplicate  bool   `json:"duplicate"`
	}
	err = db.Call(ctx, "sample_tickets", map[string]any{"embedding_model": model, "match_count": sampled}, &rows)
	if err != nil {
		return nil, 0, fmt.Errorf("sample tickets: %w", err)
	}
	for _, row := range rows {
		pairs = append(pairs, Pair{Query: row.TicketName, TicketKey: row.TicketKey})
		if row.Duplicate {
			duplicates++
		}
	}
	return pairs, duplicates, nil
}

// compare measures some pairs, starting at index start, against the tickets of all pairs.
func (r *Report) compare(ctx context.Context, db Database, model Model, pairs []Pair, keys []string, start int, related relevant) error {
	queries := make([]string, len(pairs))
	for i, pair := range pairs {
		queries[i] = pair.Query
	}
	vectors, _, err := model.Embed(ctx, r.Model, queries)
	if err != nil {
		return fmt.Errorf("embed queries: %w", err)
	}
	var rows []struct {
		Similarities []*float64 `json:"similarities"`
	}
	err = db.Call(ctx, "compare_tickets", map[string]any{"query_embeddings": vectors, "ticket_keys": keys, "embedding_model": r.Model}, &rows)
	if err != nil {
		return fmt.Errorf("compare tickets: %w", err)
	}
	for i, row := range rows {
		for j, similarity := range row.Similarities {
			switch {
			case similarity == nil: // the ticket does not exist or is not embedded
			case j == start+i:
				r.Matches = append(r.Matches, *similarity)
			case !related.has(pairs[i].Query, keys[j]):
				r.Strangers = append(r.Strangers, *similarity)
			}
		}
	}
	return nil
}

// Print writes the report as plain text, with the threshold for a given precision.
func (r Report) Print(to io.Writer, precision float64) error {
	var out strings.Builder
	what := "names of tickets"
	if r.Judged {
		what = "judged queries"
	} else if r.Duplicates > 0 {
		what = fmt.Sprintf("names of tickets (%d of them of known duplicates)", r.Duplicates)
	}
	fmt.Fprintf(&out, "%d %s, embedded by %s: cosine similarity to the ticket each should find (match) and to others (stranger)\n\n",
		len(r.Matches), what, r.Model)
	fmt.Fprintf(&out, "%-10s", "decile")
	for decile := range 11 {
		fmt.Fprintf(&out, " %6d%%", decile*10)
	}
	for _, line := range []struct {
		name   string
		values []float64
	}{{"match", r.Matches}, {"stranger", r.Strangers}} {
		fmt.Fprintf(&out, "\n%-10s", line.name)
		for decile := range 11 {
			fmt.Fprintf(&out, " %7.3f", measure.Quantile(line.values, float64(decile)/10))
		}
	}
	fmt.Fprintf(&out, "\n\n%-10s %10s %14s %16s\n", "threshold", "precision", "matches found", "strangers found")
	for tenth := 2; tenth <= 9; tenth++ {
		printCut(&out, measure.CutAt(r.Matches, r.Strangers, float64(tenth)/10))
	}
	if cut, ok := measure.CutFor(r.Matches, r.Strangers, precision); ok {
		fmt.Fprintf(&out, "\nFor a precision of %.2f, assuming as many strangers as matches:\n", precision)
		printCut(&out, cut)
		fmt.Fprintf(&out, "\nMATCH_THRESHOLD=%.3f\n", cut.Threshold)
	} else {
		fmt.Fprintf(&out, "\nNo threshold has a precision of %.2f.\n", precision)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func printCut(out io.Writer, c measure.Cut) {
	fmt.Fprintf(out, "%-10.3f %10.3f %13.1f%% %15.2f%%\n", c.Threshold, c.Precision, 100*c.Recall, 100*c.Strangers)
}
