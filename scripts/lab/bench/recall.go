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

// Probe is a query whose true neighbours are determined.
type Probe struct {
	Embedding []byte
	// Outside reports that a project is on other topics than the query. If nil, that holds for
	// every project except the nearest chunk's.
	Outside func(project int64) bool
}

// source is a ticket, or a project's own text (ticket 0), with the distance of its nearest chunk to
// a query.
type source struct {
	project, ticket int64
	status          string
	distance        float64
}

type sourceID struct{ project, ticket int64 }

func (s source) id() sourceID { return sourceID{s.project, s.ticket} }

// statement is a way to find tickets by vector.
type statement struct {
	name, sql string
}

func searches(model string) []statement {
	return []statement{
		{"search_by_vector 10", fmt.Sprintf(`select v.project_id, coalesce(v.ticket_id, 0) from public.search_by_vector($1, '%s', -1, %d, $2, $3) v order by v.rank`, model, depth)},
		{"100, as in hybrid", fmt.Sprintf(`select v.project_id, coalesce(v.ticket_id, 0) from public.search_by_vector($1, '%s', -1, %d, $2, $3) v order by v.rank limit %d`,
			model, vectorCandidates, depth)},
	}
}

// Recall compares vector search with an exact scan, under filters of many sizes.
func Recall(ctx context.Context, connection *pgx.Conn, embeddingModel string, probes, crowded []Probe, progress func(string)) (Table, error) {
	progress("measuring recall")
	shares, err := readShares(ctx, connection, embeddingModel)
	if err != nil {
		return Table{}, err
	}
	filters := shares.filters()
	ways := searches(embeddingModel)
	table := Table{Title: "Recall@10 of vector search against an exact scan", Header: []string{"filter", "queries", "of the chunks"}}
	for _, w := range ways {
		table.Header = append(table.Header, w.name, "worst", "p50, ms")
	}
	found := make([]recalls, len(filters)+1)
	for _, p := range probes {
		truth, err := exactly(ctx, connection, embeddingModel, p)
		if err != nil {
			return Table{}, err
		}
		for i, f := range filters {
			if f.outside {
				if f = shares.elsewhere(f, p, truth); f.project == 0 {
					continue
				}
			}
			if err := found[i].probe(ctx, connection, ways, f, p, truth); err != nil {
				return Table{}, fmt.Errorf("search with filter %s: %w", f.name, err)
			}
		}
	}
	last := len(filters)
	filters = append(filters, filter{name: fmt.Sprintf("none; about a ticket of %d chunks", shares.longest), share: 1})
	for _, p := range crowded {
		truth, err := exactly(ctx, connection, embeddingModel, p)
		if err != nil {
			return Table{}, err
		}
		if err := found[last].probe(ctx, connection, ways, filters[last], p, truth); err != nil {
			return Table{}, fmt.Errorf("search about the long ticket: %w", err)
		}
	}
	if !slices.ContainsFunc(found, func(r recalls) bool { return len(r.shares) > 0 }) {
		return Table{}, fmt.Errorf("measure recall: nothing to find, no chunk is of model %s", embeddingModel)
	}
	worst := 1.0
	for i, f := range filters {
		if len(found[i].shares) == 0 {
			continue
		}
		row := []string{f.name, fmt.Sprint(len(found[i].shares)), percent(measure.Mean(found[i].shares))}
		for k := range ways {
			worst = min(worst, measure.Mean(found[i].recall[k]))
			row = append(row, fmt.Sprintf("%.3f", measure.Mean(found[i].recall[k])), fmt.Sprintf("%.1f", slices.Min(found[i].recall[k])), number(measure.Quantile(found[i].took[k], 0.5)))
		}
		table.Rows = append(table.Rows, row)
	}
	table.Caption = fmt.Sprintf("The share of the ten nearest tickets that are found, mean and worst query, without a threshold. The lowest mean is %.3f; the goal is 0.98.", worst)
	return table, nil
}

// recalls holds the recall of each statement under one filter, per query.
type recalls struct {
	recall, took [2][]float64
	shares       []float64
}

func (r *recalls) probe(ctx context.Context, connection *pgx.Conn, ways []statement, f filter, p Probe, truth []source) error {
	best := nearest(truth, f)
	if len(best) == 0 {
		return nil
	}
	r.shares = append(r.shares, f.share)
	for k, way := range ways {
		got, took, err := find(ctx, connection, way, f, p)
		if err != nil {
			return err
		}
		r.recall[k] = append(r.recall[k], recallOf(got, truth, best, f))
		r.took[k] = append(r.took[k], milliseconds(took))
	}
	return nil
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

func find(ctx context.Context, connection *pgx.Conn, way statement, f filter, p Probe) (got []sourceID, took time.Duration, err error) {
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
		rows, err := tx.Query(ctx, way.sql, p.Embedding, project, status)
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
func exactly(ctx context.Context, connection *pgx.Conn, model string, p Probe) ([]source, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := connection.Query(ctx, `
		select c.project_id, coalesce(c.ticket_id, 0), coalesce(min(s.name), ''), min(c.embedding operator(extensions.<=>) $1::extensions.vector)
		from public.chunks c left join public.tickets t on t.ticket_id = c.ticket_id left join public.status s on s.status_id = t.status_id
		where c.model = $2 group by c.project_id, c.ticket_id`, p.Embedding, model)
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

// recall measures recall on the generated collection.
func (r Run) recall(ctx context.Context) ([]Table, error) {
	var probes, crowded []Probe
	for i := range max(1, r.Queries/3) {
		q := r.Collection.Query(i)
		probes = append(probes, Probe{ask(q).embedding, func(project int64) bool { return !discusses(int(project), q.topic) }})
	}
	for i := range max(1, r.Queries/10) {
		crowded = append(crowded, Probe{Embedding: ask(r.Collection.QueryFor(longTicket, i)).embedding})
	}
	table, err := Recall(ctx, r.Connection, model, probes, crowded, r.Progress)
	return []Table{table}, err
}
