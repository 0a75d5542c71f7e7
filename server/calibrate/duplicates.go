package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"tasklens/internal/collection"
	"tasklens/internal/measure"
	"tasklens/internal/search"
)

const (
	comparedWith = 10 // similar tickets of each query that are judged
	leastSupport = 10 // results that a threshold must have over it
)

// Compare finds the tickets most like a draft, the best first.
type Compare func(ctx context.Context, text string, limit int) ([]search.Similar, error)

// Duplicates is what judged queries say about the scores of similar tickets.
type Duplicates struct {
	Model         string
	Queries       int
	Results       []measure.Scored // right: judged as what the query should find
	Judged        int              // tickets that the queries should find, found or not
	Probability   measure.Logistic
	Threshold     float64 // where Reached
	Reached       bool    // whether a threshold has the precision
	WantPrecision float64
}

// MeasureDuplicates compares judged queries, as drafts, and fits what their results say: the
// probability that a result of some score is a duplicate, and the least score with a precision. A
// result that nobody has judged counts as wrong.
func MeasureDuplicates(ctx context.Context, compare Compare, model string, queries []collection.Query, precision float64) (Duplicates, error) {
	d := Duplicates{Model: model, WantPrecision: precision}
	step := max(1, float64(len(queries))/sampled)
	for at := 0.0; int(at) < len(queries); at += step {
		query := queries[int(at)]
		results, err := compare(ctx, query.Text, comparedWith)
		if err != nil {
			return Duplicates{}, fmt.Errorf("compare query %s: %w", query.ID, err)
		}
		judged := map[string]bool{}
		for key := range query.Judged {
			judged[strings.ToLower(key)] = true
		}
		d.Queries, d.Judged = d.Queries+1, d.Judged+len(judged)
		for _, r := range results {
			if r.DuplicateScore != nil && !strings.EqualFold(r.TicketKey, query.ID) { // the query may be a ticket's, and that imported too
				d.Results = append(d.Results, measure.Scored{Score: *r.DuplicateScore, Right: judged[strings.ToLower(r.TicketKey)]})
			}
		}
	}
	var rises bool
	if d.Probability, rises = measure.FitLogistic(d.Results); !rises {
		return Duplicates{}, errors.New("the judged queries do not tell duplicates from other tickets: too few of what they should find is found")
	}
	d.Threshold, d.Reached = measure.LeastFor(d.Results, precision, leastSupport)
	return d, nil
}

// Store keeps it for all copies of the service. Without a threshold the shipped one goes on.
func (d Duplicates) Store(ctx context.Context, db Database) error {
	right := 0
	for _, r := range d.Results {
		if r.Right {
			right++
		}
	}
	arguments := map[string]any{
		"embedding_model": d.Model, "slope": d.Probability.Slope, "intercept": d.Probability.Intercept,
		"results": len(d.Results), "duplicates": right,
	}
	if d.Reached {
		arguments["duplicate_threshold"] = d.Threshold
	}
	if err := db.Call(ctx, "store_duplicate_calibration", arguments, nil); err != nil {
		return fmt.Errorf("store the calibration of duplicates: %w", err)
	}
	return nil
}

// Print writes it as plain text.
func (d Duplicates) Print(to io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "\nSimilar tickets of %d judged queries, the best %d of each: how many of a score are duplicates\n\n", d.Queries, comparedWith)
	fmt.Fprintf(&out, "%-15s %8s %11s %10s %10s\n", "duplicate_score", "results", "duplicates", "share", "confidence")
	for tenth := range 10 {
		low := float64(tenth) / 10
		count, right, sum := 0, 0, 0.0
		for _, r := range d.Results {
			if r.Score >= low && (r.Score < low+0.1 || tenth == 9) {
				count++
				sum += d.Probability.At(r.Score)
				if r.Right {
					right++
				}
			}
		}
		if count > 0 {
			fmt.Fprintf(&out, "%.1f to %.1f      %8d %11d %10.3f %10.3f\n", low, low+0.1, count, right, float64(right)/float64(count), sum/float64(count))
		}
	}
	if d.Reached {
		over, right := 0, 0
		for _, r := range d.Results {
			if r.Score >= d.Threshold {
				over++
				if r.Right {
					right++
				}
			}
		}
		fmt.Fprintf(&out, "\nlikely_duplicate from %.3f: %d of %d such results are duplicates, and %.1f%% of all duplicates are found so.\n",
			d.Threshold, right, over, 100*float64(right)/float64(max(1, d.Judged)))
	} else {
		fmt.Fprintf(&out, "\nNo score has a precision of %.2f, where what nobody judged counts as wrong: likely_duplicate keeps its threshold.\n", d.WantPrecision)
	}
	_, err := io.WriteString(to, out.String())
	return err
}
