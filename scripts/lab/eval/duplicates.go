package eval

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/collection"
	"tasklens/internal/measure"
)

const (
	judgedDepth  = 10  // results of each query that are judged
	batchSize    = 10  // that one request compares
	wanted       = 0.9 // precision
	leastSupport = 10  // results that a threshold must have over it
	toRead       = 50  // unjudged hits, printed for reading
)

// DuplicateReport is how well the service tells duplicates from other tickets: drafts, which are
// the collection's queries, and stored tickets, where one query has several relevant ones. These
// duplicate one another.
type DuplicateReport struct {
	Rows    []duplicateRow
	Unknown []unjudged // the highest of the drafts
}

type duplicateRow struct {
	Name      string
	Ranking   Row
	Asked     int
	Judged    [2]int // pairs in the projects of each half
	Scored    [2][]measure.Scored
	Confident [2][]measure.Scored // Score: the service's confidence
	Flagged   [2][]measure.Scored
}

type unjudged struct {
	Score                  float64
	Query, Text, Key, Name string
}

// asked is a draft or a stored ticket with the keys of its duplicates.
type asked struct {
	id, text, key string
	judged        measure.Judged
	half          int // of the projects, by the first duplicate's
}

type similarHit struct {
	TicketKey  string   `json:"ticket_key"`
	TicketName string   `json:"ticket_name"`
	FusedScore float64  `json:"fused_score"`
	Likely     bool     `json:"likely_duplicate"`
	Confidence *float64 `json:"confidence"`
}

// CheckDuplicates compares all queries, and the tickets that duplicate one another.
func CheckDuplicates(ctx context.Context, service Service, connection *pgx.Conn, queries []collection.Query, progress func(string)) (DuplicateReport, error) {
	projects, names, err := ticketProjects(ctx, connection)
	if err != nil {
		return DuplicateReport{}, err
	}
	// Whole projects are kept apart, the same ones in every run.
	half := func(judged measure.Judged) int {
		if checking(projects[slices.Sorted(maps.Keys(judged))[0]]) {
			return 1
		}
		return 0
	}
	var drafts, stored []asked
	siblings := map[string]measure.Judged{}
	for _, q := range queries {
		drafts = append(drafts, asked{id: q.ID, text: q.Text, judged: q.Judged, half: half(q.Judged)})
		for one := range q.Judged {
			for other := range q.Judged {
				if one != other && names[one] != "" {
					if siblings[one] == nil {
						siblings[one] = measure.Judged{}
					}
					siblings[one][other] = 1
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(siblings)) {
		stored = append(stored, asked{id: key, key: key, judged: siblings[key], half: half(measure.Judged{key: 1})})
	}
	var report DuplicateReport
	for _, kind := range []struct {
		name string
		all  []asked
	}{{"drafts", drafts}, {"stored tickets", stored}} {
		if len(kind.all) == 0 {
			continue
		}
		progress("comparing " + kind.name)
		row, unknown, err := service.duplicates(ctx, kind.name, kind.all)
		if err != nil {
			return DuplicateReport{}, err
		}
		report.Rows = append(report.Rows, row)
		if report.Unknown == nil {
			report.Unknown = unknown
		}
	}
	return report, nil
}

func ticketProjects(ctx context.Context, connection *pgx.Conn) (projects, names map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rows, err := connection.Query(ctx, "select t.key, t.name, p.key from public.tickets t join public.projects p using (project_id)")
	if err != nil {
		return nil, nil, fmt.Errorf("read tickets: %w", err)
	}
	projects, names = map[string]string{}, map[string]string{}
	var key, name, project string
	_, err = pgx.ForEachRow(rows, []any{&key, &name, &project}, func() error {
		projects[key], names[key] = project, name
		return nil
	})
	return projects, names, err
}

func (s Service) duplicates(ctx context.Context, name string, all []asked) (duplicateRow, []unjudged, error) {
	row := duplicateRow{Name: name, Asked: len(all)}
	var unknown []unjudged
	var ranked [][]string
	var queries []collection.Query
	for start := 0; start < len(all); start += batchSize {
		part := all[start:min(start+batchSize, len(all))]
		items := make([]map[string]any, len(part))
		for i, one := range part {
			if items[i] = map[string]any{"text": one.text}; one.key != "" {
				items[i] = map[string]any{"ticket_key": one.key}
			}
		}
		var answer struct {
			Items []struct {
				Results []similarHit    `json:"results"`
				Error   *map[string]any `json:"error"`
			} `json:"items"`
		}
		if err := s.post(ctx, "/api/tickets/similar/batch", map[string]any{"items": items, "limit": judgedDepth}, &answer); err != nil {
			return row, nil, fmt.Errorf("compare %s: %w", name, err)
		}
		if len(answer.Items) != len(part) {
			return row, nil, fmt.Errorf("compare %s: %d items came back of %d", name, len(answer.Items), len(part))
		}
		for i, one := range part {
			if answer.Items[i].Error != nil {
				return row, nil, fmt.Errorf("compare %s: %s: %v", name, one.id, *answer.Items[i].Error)
			}
			row.Judged[one.half] += len(one.judged)
			var keys []string
			for _, h := range answer.Items[i].Results {
				right := one.judged[h.TicketKey] > 0
				keys = append(keys, h.TicketKey)
				row.Scored[one.half] = append(row.Scored[one.half], measure.Scored{Score: h.FusedScore, Right: right})
				if h.Likely {
					row.Flagged[one.half] = append(row.Flagged[one.half], measure.Scored{Score: h.FusedScore, Right: right})
				}
				if h.Confidence != nil {
					row.Confident[one.half] = append(row.Confident[one.half], measure.Scored{Score: *h.Confidence, Right: right})
				}
				if !right {
					unknown = append(unknown, unjudged{h.FusedScore, one.id, one.text, h.TicketKey, h.TicketName})
				}
			}
			ranked, queries = append(ranked, keys), append(queries, collection.Query{ID: one.id, Judged: one.judged})
		}
	}
	row.Ranking = newRow(name, ranked, queries)
	slices.SortStableFunc(unknown, func(a, b unjudged) int { return cmp.Compare(b.Score, a.Score) })
	return row, unknown[:min(toRead, len(unknown))], nil
}

// reachOf is how many of some results reach a score, and how many of these are right.
func reachOf(values []measure.Scored, score float64) (over, right int) {
	for _, v := range values {
		if v.Score >= score {
			over++
			if v.Right {
				right++
			}
		}
	}
	return over, right
}

func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(a)/float64(b))
}

// Print writes the report as plain text. What nobody judged counts as wrong in it, so a precision
// is the least that it can be.
func (r DuplicateReport) Print(to io.Writer, name string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: likely duplicates; what nobody judged counts as wrong\n", name)
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "\n%d %s: nDCG@10 %.3f, Recall@10 %.3f\n", row.Asked, row.Name, measure.Mean(row.Ranking.NDCG10), measure.Mean(row.Ranking.Recall10))
		fmt.Fprintf(&out, "  %-52s %8s %8s %10s %8s\n", "measured on the projects kept apart", "flagged", "right", "precision", "recall")
		print := func(what string, over, right, judged int) {
			fmt.Fprintf(&out, "  %-52s %8d %8d %10s %8s\n", what, over, right, share(right, over), share(right, judged))
		}
		for check := range 2 {
			what := fmt.Sprintf("half %d: ", check+1)
			print(what+"likely_duplicate", len(row.Flagged[check]), countRight(row.Flagged[check]), row.Judged[check])
			if least, ok := measure.LeastFor(row.Scored[1-check], wanted, leastSupport); ok {
				over, right := reachOf(row.Scored[check], least)
				print(fmt.Sprintf("%sprecision %.1f on the others (from %.3f)", what, wanted, least), over, right, row.Judged[check])
			} else {
				fmt.Fprintf(&out, "  %sno score has a precision of %.1f on the others\n", what, wanted)
			}
			if fit, ok := measure.FitLogistic(row.Scored[1-check]); ok {
				fmt.Fprintf(&out, "  %sconfidence fitted on the others: %s\n", what, calibration(fit, row.Scored[check]))
			}
		}
		both := slices.Concat(row.Scored[0], row.Scored[1])
		fmt.Fprintf(&out, "  %-52s %8s %8s %10s %8s\n", "by score, both halves", "results", "right", "precision", "recall")
		for _, score := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8} {
			over, right := reachOf(both, score)
			print(fmt.Sprintf("from %.1f", score), over, right, row.Judged[0]+row.Judged[1])
		}
	}
	fmt.Fprintf(&out, "\nThe %d highest results of drafts that nobody judged, to be read: score, draft, ticket\n", len(r.Unknown))
	for _, u := range r.Unknown {
		fmt.Fprintf(&out, "%.3f %s %s\n      %s %s\n", u.Score, u.Query, u.Text, u.Key, u.Name)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func countRight(values []measure.Scored) (right int) {
	_, right = reachOf(values, math.Inf(-1))
	return right
}

// calibration compares what is predicted with what is so: the mean square error (Brier), that of
// the share of the right ones as the prediction for all, and the means of the upper and lower ends.
func calibration(fit measure.Logistic, values []measure.Scored) string {
	base := float64(countRight(values)) / float64(max(1, len(values)))
	var errors, of []float64
	sums := map[bool][3]float64{}
	for _, v := range values {
		p, y := fit.At(v.Score), 0.0
		if v.Right {
			y = 1
		}
		errors, of = append(errors, (p-y)*(p-y)), append(of, (base-y)*(base-y))
		s := sums[p >= 0.2]
		sums[p >= 0.2] = [3]float64{s[0] + p, s[1] + y, s[2] + 1}
	}
	high, low := sums[true], sums[false]
	return fmt.Sprintf("Brier %.4f, of a constant %.4f; from 0.2: predicted %.3f, so %.3f of %.0f; below: %.3f, %.3f of %.0f",
		measure.Mean(errors), measure.Mean(of), high[0]/math.Max(1, high[2]), high[1]/math.Max(1, high[2]), high[2],
		low[0]/math.Max(1, low[2]), low[1]/math.Max(1, low[2]), low[2])
}
