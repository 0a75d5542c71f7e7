package eval

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/collection"
	"tasklens/scripts/lab/measure"
)

const (
	judgedDepth = 10 // results of each query that are judged
	batchSize   = 10 // that one request compares
	toRead      = 50 // unjudged hits, printed for reading
)

// DuplicateReport is how well the service tells duplicates from other tickets: drafts, which are
// the collection's queries, and stored tickets, where one query has several relevant ones. These
// duplicate one another.
type DuplicateReport struct {
	Rows    []duplicateRow
	Unknown []unjudged // the highest of the drafts
}

type duplicateRow struct {
	Name    string
	Ranking Row
	Asked   int
	Judged  [2]int        // pairs in the projects of each half
	Results [2][]compared // in the projects of each half
}

// compared is a result of one comparison.
type compared struct {
	Score  float64
	Right  bool
	Query  string
	Likely bool // as the service says
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
	TicketKey  string  `json:"ticket_key"`
	TicketName string  `json:"ticket_name"`
	Score      float64 `json:"duplicate_score"`
	Likely     bool    `json:"likely_duplicate"`
}

// CheckDuplicates compares all queries, and the tickets that duplicate one another.
func CheckDuplicates(ctx context.Context, service Service, connection *pgx.Conn, queries []collection.Query, progress func(string)) (DuplicateReport, error) {
	projects, err := byKey[string](ctx, connection, "p.key")
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
	for _, q := range queries {
		drafts = append(drafts, asked{id: q.ID, text: q.Text, judged: q.Judged, half: half(q.Judged)})
	}
	for _, q := range siblings(queries, projects) {
		stored = append(stored, asked{id: q.ID, key: q.ID, judged: q.Judged, half: half(measure.Judged{q.ID: 1})})
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

// checking splits by key, the same way in every run, so that what is tuned on one half can be
// checked on the other.
func checking(key string) bool {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return hash.Sum32()>>3&1 == 1
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
				row.Results[one.half] = append(row.Results[one.half], compared{h.Score, right, one.id, h.Likely})
				if !right {
					unknown = append(unknown, unjudged{h.Score, one.id, one.text, h.TicketKey, h.TicketName})
				}
			}
			ranked, queries = append(ranked, keys), append(queries, collection.Query{ID: one.id, Judged: one.judged})
		}
	}
	row.Ranking = newRow(name, ranked, queries)
	slices.SortStableFunc(unknown, func(a, b unjudged) int { return cmp.Compare(b.Score, a.Score) })
	return row, unknown[:min(toRead, len(unknown))], nil
}

// scored are the results that pass.
func scored(results []compared, pass func(compared) bool) (values []compared) {
	for _, r := range results {
		if pass(r) {
			values = append(values, r)
		}
	}
	return values
}

func countRight(values []compared) (right int) {
	for _, v := range values {
		if v.Right {
			right++
		}
	}
	return right
}

func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(a)/float64(b))
}

// interval is where a share of some results lies with 95% confidence (Wilson 1927).
func interval(right, of int) string {
	if of == 0 {
		return "–"
	}
	const z = 1.96
	n := float64(of)
	p := float64(right) / n
	middle, reach := (p+z*z/(2*n))/(1+z*z/n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))/(1+z*z/n)
	return fmt.Sprintf("%.2f–%.2f", middle-reach, middle+reach)
}

// Print writes the report as plain text. What nobody judged counts as wrong in it, so a precision
// is the least that it can be.
func (r DuplicateReport) Print(to io.Writer, name string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: likely duplicates; what nobody judged counts as wrong\n", name)
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "\n%d %s: nDCG@10 %.3f, Recall@10 %.3f\n", row.Asked, row.Name, measure.Mean(row.Ranking.NDCG10), measure.Mean(row.Ranking.Recall10))
		fmt.Fprintf(&out, "  %-46s %8s %8s %10s %11s %8s\n", "measured on the projects kept apart", "results", "right", "precision", "95%", "recall")
		print := func(what string, values []compared, judged int) {
			right := countRight(values)
			fmt.Fprintf(&out, "  %-46s %8d %8d %10s %11s %8s\n", what, len(values), right, share(right, len(values)), interval(right, len(values)), share(right, judged))
		}
		for check := range 2 {
			what := fmt.Sprintf("half %d: ", check+1)
			print(what+"likely_duplicate", scored(row.Results[check], func(c compared) bool { return c.Likely }), row.Judged[check])
		}
		both := slices.Concat(row.Results[0], row.Results[1])
		for _, score := range []float64{0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6} {
			print(fmt.Sprintf("both halves: from %.2f", score), scored(both, func(c compared) bool { return c.Score >= score }), row.Judged[0]+row.Judged[1])
		}
	}
	fmt.Fprintf(&out, "\nThe %d highest results of drafts that nobody judged, to be read: score, draft, ticket\n", len(r.Unknown))
	for _, u := range r.Unknown {
		fmt.Fprintf(&out, "%.3f %s %s\n      %s %s\n", u.Score, u.Query, u.Text, u.Key, u.Name)
	}
	_, err := io.WriteString(to, out.String())
	return err
}
