package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// depth is the rank at which recall is measured.
const depth = 10

// source is a ticket, or a project's own text (ticket 0), with the distance of its nearest chunk to
// a query.
type source struct {
	project, ticket int64
	status          string
	distance        float64
}

type sourceID struct{ project, ticket int64 }

func (s source) id() sourceID { return sourceID{s.project, s.ticket} }

var recalledSQL = fmt.Sprintf(`select v.project_id, coalesce(v.ticket_id, 0) from public.search_by_vector($1, '%s', -1, %d, $2, $3) v order by v.rank`, model, depth)

// recall compares vector search with an exact scan, under filters of many sizes.
func (r Run) recall(ctx context.Context) (Table, error) {
	r.Progress("measuring recall")
	table := Table{Title: "Recall@10 of vector search against an exact scan", Header: []string{"filter", "queries", "recall", "worst", "p50, ms"}}
	var queries, crowded []string
	for i := range max(1, r.Queries/3) {
		queries = append(queries, r.Collection.Query(i))
	}
	for i := range max(1, r.Queries/10) {
		crowded = append(crowded, r.Collection.QueryFor(longTicket, i))
	}
	all, err := r.recallUnder(ctx, queries, filters())
	if err != nil {
		return Table{}, err
	}
	long, err := r.recallUnder(ctx, crowded, []filter{{name: fmt.Sprintf("none; about a ticket of %d chunks", r.Collection.chunks[longTicket])}})
	if err != nil {
		return Table{}, err
	}
	worst := 1.0
	for _, f := range append(all, long...) {
		mean := measure.Mean(f.recall)
		worst = min(worst, mean)
		table.Rows = append(table.Rows, []string{f.name, fmt.Sprint(len(f.took)), fmt.Sprintf("%.3f", mean), fmt.Sprintf("%.1f", slices.Min(f.recall)), number(measure.Quantile(f.took, 0.5))})
	}
	table.Caption = fmt.Sprintf("The share of the ten nearest tickets that are found, mean and worst query, without a threshold. The lowest mean is %.3f; the goal is 0.98.", worst)
	return table, nil
}

// recalls holds the recall and the time under one filter, per query.
type recalls struct {
	name         string
	recall, took []float64
}

// recallUnder searches under each filter. It leaves out a filter that passes nothing for any query.
func (r Run) recallUnder(ctx context.Context, queries []string, under []filter) (found []recalls, err error) {
	found = make([]recalls, len(under))
	for _, q := range queries {
		embedding := ask(q).embedding
		truth, err := exactly(ctx, r.Connection, embedding)
		if err != nil {
			return nil, err
		}
		for i, f := range under {
			found[i].name = f.name
			if best := nearest(truth, f); len(best) > 0 {
				got, took, err := find(ctx, r.Connection, embedding, f)
				if err != nil {
					return nil, fmt.Errorf("search with filter %s: %w", f.name, err)
				}
				found[i].recall, found[i].took = append(found[i].recall, recallOf(got, truth, best, f)), append(found[i].took, milliseconds(took))
			}
		}
	}
	return slices.DeleteFunc(found, func(one recalls) bool { return len(one.took) == 0 }), nil
}

// nearest returns the nearest sources that pass a filter. truth is sorted.
func nearest(truth []source, f filter) (best []source) {
	for _, s := range truth {
		if f.passes(s) {
			if best = append(best, s); len(best) == depth {
				break
			}
		}
	}
	return best
}

// recallOf counts results as near as the last of the best, so ties are interchangeable. A result
// that the filter should exclude is a miss.
func recallOf(got []sourceID, truth, best []source, f filter) float64 {
	// The index may compare with less precision than the scan.
	limit := best[len(best)-1].distance + 1e-6
	near := map[sourceID]bool{}
	for _, s := range truth {
		if s.distance > limit {
			break
		}
		if f.passes(s) {
			near[s.id()] = true
		}
	}
	hits := 0
	for _, id := range got {
		if near[id] {
			hits++
			delete(near, id)
		}
	}
	return float64(min(hits, len(best))) / float64(len(best))
}

func find(ctx context.Context, connection *pgx.Conn, embedding []byte, f filter) (got []sourceID, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	var project *int64
	var status *string
	if f.project != 0 {
		project = &f.project
	}
	if f.status != "" {
		status = &f.status
	}
	err = asService(ctx, connection, func(tx pgx.Tx) error {
		started := time.Now()
		rows, err := tx.Query(ctx, recalledSQL, embedding, project, status)
		if err != nil {
			return err
		}
		got, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (id sourceID, err error) {
			return id, row.Scan(&id.project, &id.ticket)
		})
		took = time.Since(started)
		return err
	})
	return got, took, err
}

// exactly compares a query with every chunk and returns all tickets, nearest first.
func exactly(ctx context.Context, connection *pgx.Conn, embedding []byte) ([]source, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := connection.Query(ctx, `
		select c.project_id, coalesce(c.ticket_id, 0), coalesce(min(s.name), ''), min(c.embedding operator(extensions.<=>) $1::extensions.vector)
		from public.chunks c left join public.tickets t on t.ticket_id = c.ticket_id left join public.status s on s.status_id = t.status_id
		where c.model = $2 group by c.project_id, c.ticket_id`, embedding, model)
	if err != nil {
		return nil, fmt.Errorf("scan all chunks: %w", err)
	}
	truth, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s source, err error) {
		return s, row.Scan(&s.project, &s.ticket, &s.status, &s.distance)
	})
	if err != nil {
		return nil, fmt.Errorf("scan all chunks: %w", err)
	}
	slices.SortFunc(truth, func(a, b source) int { return cmp.Compare(a.distance, b.distance) })
	return truth, nil
}
