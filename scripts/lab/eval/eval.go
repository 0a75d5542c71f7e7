// Package eval measures, through the HTTP API, how well the service finds what a collection's
// judges call relevant, and compares it with reference rankings of the same tickets. It owns the
// run and its report. It does not know how the service ranks, nor where settings come from.
package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tasklens/internal/collection"
)

const (
	depth          = 100 // maximum rank considered
	clients        = 2   // concurrent searches while rankings are collected
	requestTimeout = time.Minute
	indexTimeout   = 15 * time.Minute // to read all tickets and index them for reference
)

// Run is one evaluation: a running service, an owner's connection to its database, which already
// holds the collection's tickets, and the queries.
type Run struct {
	Service      Service
	Connection   *pgx.Conn
	Queries      []collection.Query
	KeywordAlone bool // skips vectors, the fused list and the latency, which take most of the time
	Progress     func(step string)
}

// ranker returns the best items for a query, at most depth.
type ranker func(ctx context.Context, query collection.Query) ([]string, error)

// Do sends all queries to the service and to the reference rankings.
func (r Run) Do(ctx context.Context) (Report, error) {
	var report Report
	if err := report.describe(ctx, r.Connection, r.Queries); err != nil {
		return Report{}, err
	}
	if !r.KeywordAlone {
		// Timing comes first, while nothing is cached.
		r.Progress("timing searches, one at a time")
		var err error
		if report.Latencies, err = r.latencies(ctx); err != nil {
			return Report{}, err
		}
	}
	r.Progress("ranking by keyword")
	keyword, err := r.row(ctx, "keyword alone", r.Service.keyword, clients)
	if err != nil {
		return Report{}, err
	}
	report.Rows = append(report.Rows, keyword)
	var rrf, convex Row
	if !r.KeywordAlone {
		r.Progress("ranking by vector, by both, and as drafts")
		vector, open, err := r.open(ctx)
		if err != nil {
			return Report{}, err
		}
		if rrf, err = r.row(ctx, "hybrid, rrf", Service{r.Service.URL, "rrf"}.listed, clients); err != nil {
			return Report{}, err
		}
		if convex, err = r.row(ctx, "hybrid, convex", Service{r.Service.URL, "convex"}.listed, clients); err != nil {
			return Report{}, err
		}
		similar, err := r.row(ctx, "similar tickets, of a draft", r.Service.similar, clients)
		if err != nil {
			return Report{}, err
		}
		report.Rows = append(report.Rows, vector, rrf, convex, open, similar)
	}
	r.Progress("ranking by reference")
	and, or, best, err := r.references(ctx)
	if err != nil {
		return Report{}, err
	}
	report.Rows = append(report.Rows, and, or, best)
	report.Pairs = append(report.Pairs, Pair{keyword, best}, Pair{keyword, or})
	if !r.KeywordAlone {
		report.Pairs = append(report.Pairs, Pair{report.Rows[1], keyword}, Pair{rrf, keyword}, Pair{convex, keyword}, Pair{convex, rrf}, Pair{convex, best})
	}
	return report, nil
}

// references ranks the same tickets by other methods.
func (r Run) references(ctx context.Context) (and, or, best Row, err error) {
	postgres, err := newPostgres(ctx, r.Connection)
	if err != nil {
		return and, or, best, err
	}
	bm25f, err := newBM25F(ctx, r.Connection)
	if err != nil {
		return and, or, best, err
	}
	// A connection runs one query at a time.
	if and, err = r.row(ctx, "Postgres: all words, ts_rank", postgres.rank(allWords), 1); err != nil {
		return and, or, best, err
	}
	if or, err = r.row(ctx, "Postgres: any word, ts_rank", postgres.rank(anyWord), 1); err != nil {
		return and, or, best, err
	}
	best, err = r.row(ctx, "BM25F: title × 3, description", bm25f.rank, 1)
	return and, or, best, err
}

// latencies returns the milliseconds of searches with ten results, run one at a time.
func (r Run) latencies(ctx context.Context) ([]float64, error) {
	var out []float64
	for _, q := range r.Queries {
		started := time.Now()
		if _, err := r.Service.search(ctx, q.Text, nil, 10, 0); err != nil {
			return nil, err
		}
		out = append(out, float64(time.Since(started).Microseconds())/1000)
	}
	return out, nil
}

// row ranks all queries with one method, some of them concurrently.
func (r Run) row(ctx context.Context, name string, rank ranker, atOnce int) (Row, error) {
	ranked := make([][]string, len(r.Queries))
	err := r.each(ctx, atOnce, func(ctx context.Context, i int) (err error) {
		ranked[i], err = rank(ctx, r.Queries[i])
		return err
	})
	return newRow(name, ranked, r.Queries), err
}

// open returns the two rows that come from searches with threshold 0.
func (r Run) open(ctx context.Context) (vector, hybrid Row, err error) {
	vectors, lists := make([][]string, len(r.Queries)), make([][]string, len(r.Queries))
	err = r.each(ctx, clients, func(ctx context.Context, i int) (err error) {
		vectors[i], lists[i], err = r.Service.open(ctx, r.Queries[i])
		return err
	})
	return newRow("vector alone, threshold 0", vectors, r.Queries), newRow("hybrid, threshold 0", lists, r.Queries), err
}

func (r Run) each(ctx context.Context, atOnce int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, q := range r.Queries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err // another query failed
			}
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}
