package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// narrowing is a search filter, and its equivalent in plain SQL on tickets t.
type narrowing struct {
	name    string
	filters map[string]any
	where   string
}

// narrowings returns filters that each select about this share of the tickets: by label, date
// range, assignee, and several at once.
func narrowings(share float64) []narrowing {
	first := dayOf(1 - share).Format(time.RFC3339)
	all := []narrowing{
		{"label", map[string]any{"labels": []string{labelOf(share)}}, fmt.Sprintf("'%s' = any (t.labels)", labelOf(share))},
		{"created", map[string]any{"created": map[string]any{"from": first}}, fmt.Sprintf("t.created_at >= '%s'", first)},
		{
			"label, type, not label, created", map[string]any{
				"labels": map[string]any{"all": []string{labelOf(share)}}, "types": []string{"bug", "task", "story"},
				"created": map[string]any{"from": "2015-01-01"}, "not": map[string]any{"labels": []string{labelOf(0.0001)}, "assignee": []string{assigneeOf(0.001)}},
			},
			fmt.Sprintf("'%s' = any (t.labels) and not '%s' = any (t.labels) and t.assignee is distinct from '%s'", labelOf(share), labelOf(0.0001), assigneeOf(0.001)),
		},
	}
	if share < 0.9 {
		all = append(all, narrowing{"assignee", map[string]any{"assignee": []string{assigneeOf(share)}}, fmt.Sprintf("t.assignee = '%s'", assigneeOf(share))})
	}
	return all
}

// projectsOf returns projects that together have about this share of the tickets.
func projectsOf(ctx context.Context, connection *pgx.Conn, share float64) (narrowing, error) {
	rows, err := connection.Query(ctx, `select t.project_id, count(*)::float / sum(count(*)) over () from public.tickets t group by t.project_id order by 2 desc, 1`)
	if err != nil {
		return narrowing{}, fmt.Errorf("count tickets: %w", err)
	}
	var (
		project int64
		part    float64
		chosen  []int64
		left    = share * 1.2
	)
	if _, err := pgx.ForEachRow(rows, []any{&project, &part}, func() error {
		if part <= left && len(chosen) < 50 { // the maximum of a filter
			chosen, left = append(chosen, project), left-part
		}
		return nil
	}); err != nil {
		return narrowing{}, fmt.Errorf("count tickets: %w", err)
	}
	where, err := json.Marshal(chosen)
	return narrowing{"projects", map[string]any{"projects": chosen}, fmt.Sprintf("t.project_id = any (translate('%s', '[]', '{}')::bigint[])", where)}, err
}

// narrowedLegs are the searches measured under filters ($3): each leg alone, and both.
func narrowedLegs() []statement {
	return []statement{
		{"vector leg", fmt.Sprintf(`select coalesce(v.ticket_id, -v.project_id) from public.search_by_vector($2, '%s', -1, %d, filters => $3) v where $1::text is not null order by v.rank limit %d`,
			model, vectorCandidates, depth)},
		{"keyword leg", fmt.Sprintf(`select coalesce(k.ticket_id, -k.project_id) from public.search_by_keyword($1, %d, filters => $3) k where $2::extensions.vector is not null order by k.rank limit %d`,
			keywordCandidates, depth)},
		{"search_hybrid", fmt.Sprintf(`select coalesce(h.ticket_id, -h.project_id) from public.search_hybrid($1, $2, '%s', 0, %d, filters => $3) h`, model, depth)},
	}
}

// filters measures recall and speed under filters of many sizes, compared with a project filter of
// the same size.
func (r Run) filters(ctx context.Context) ([]Table, error) {
	if err := rankEverything(ctx, r.Connection); err != nil {
		return nil, err
	}
	r.Progress("measuring filters")
	legs := narrowedLegs()
	table := Table{Title: "Filters", Header: []string{"filter", "of the tickets", "vector leg: recall@10", "worst", "keyword leg: recall@10", "worst"}}
	for _, leg := range legs {
		table.Header = append(table.Header, leg.name+": p50, ms", "by projects", "ratio")
	}
	least, greatest := 1.0, 0.0
	for _, share := range shared {
		byProjects, err := projectsOf(ctx, r.Connection, share)
		if err != nil {
			return nil, err
		}
		for _, n := range narrowings(share) {
			m, err := r.narrowed(ctx, legs, n, byProjects)
			if err != nil {
				return nil, fmt.Errorf("search under the filter %s: %w", n.name, err)
			}
			if len(m.passing) == 0 {
				continue
			}
			row := []string{n.name, percent(float64(len(m.passing)) / float64(r.Collection.Tickets()))}
			for _, found := range m.recall {
				least = min(least, measure.Mean(found))
				row = append(row, fmt.Sprintf("%.3f", measure.Mean(found)), fmt.Sprintf("%.1f", slices.Min(found)))
			}
			for k := range legs {
				took, beside := measure.Quantile(m.took[k], 0.5), measure.Quantile(m.beside[k], 0.5)
				greatest = max(greatest, took/beside)
				row = append(row, number(took), number(beside), ratio(took, beside))
			}
			table.Rows = append(table.Rows, row)
		}
	}
	table.Caption = fmt.Sprintf("Recall is of the ten nearest by an exact scan and of the ten best when everything that passes is ranked; no threshold. Times are compared with those of a project filter "+
		"of about the same size. The lowest mean is %.3f; the goal is 0.98. The worst ratio is %.2f; the goal is at most 2.", least, greatest)
	return []Table{table}, nil
}

type narrowed struct {
	passing      map[int64]bool
	recall       [2][]float64 // of the vector leg and of the keyword leg
	took, beside [3][]float64
}

func (r Run) narrowed(ctx context.Context, legs []statement, n, byProjects narrowing) (m narrowed, err error) {
	rows, err := r.Connection.Query(ctx, `select t.ticket_id from public.tickets t where `+n.where)
	if err != nil {
		return m, err
	}
	passing, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(passing) == 0 {
		return m, err
	}
	m.passing = map[int64]bool{}
	for _, id := range passing {
		m.passing[id] = true
	}
	for i := range max(2, r.Queries/10) {
		q := ask(r.Collection.Query(i))
		truth, err := exactly(ctx, r.Connection, model, Probe{Embedding: q.embedding})
		if err != nil {
			return m, err
		}
		truth = slices.DeleteFunc(truth, func(s source) bool { return !m.passing[s.ticket] })
		everything, _, err := r.search(ctx, fmt.Sprintf(`select coalesce(k.ticket_id, -k.project_id)
			from bench.rank_everything($1, %d, $3) k where $2::extensions.vector is not null order by k.rank`, depth), q, n)
		if err != nil {
			return m, err
		}
		for k, leg := range legs {
			found, took, err := r.search(ctx, leg.sql, q, n)
			if err != nil {
				return m, err
			}
			_, beside, err := r.search(ctx, leg.sql, q, byProjects)
			if err != nil {
				return m, err
			}
			m.took[k], m.beside[k] = append(m.took[k], milliseconds(took)), append(m.beside[k], milliseconds(beside))
			switch k {
			case 0:
				var got []sourceID
				for _, id := range found {
					got = append(got, sourceID{ticket: id})
				}
				for i := range truth {
					truth[i].project = 0
				}
				m.recall[0] = append(m.recall[0], recallOf(got, truth, nearest(truth, filter{}), filter{}))
			case 1:
				if len(everything) > 0 {
					judged := measure.Judged{}
					for _, id := range everything {
						judged[fmt.Sprint(id)] = 1
					}
					m.recall[1] = append(m.recall[1], measure.Recall(texts(found), judged, depth))
				}
			}
		}
	}
	if len(m.recall[1]) == 0 { // no query has a word that occurs in what passes
		m.recall[1] = []float64{1}
	}
	return m, nil
}

func texts(ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, fmt.Sprint(id))
	}
	return out
}

// search runs a query as the service does. Only the statement is timed.
func (r Run) search(ctx context.Context, sql string, q asked, n narrowing) (ids []int64, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	err = asService(ctx, r.Connection, func(tx pgx.Tx) error {
		started := time.Now()
		rows, err := tx.Query(ctx, sql, q.text, q.embedding, n.filters)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		took = time.Since(started)
		return err
	})
	return ids, took, err
}
