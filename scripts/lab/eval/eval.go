// Package eval measures, through the HTTP API, how well the service finds what a collection's
// judges call relevant, beside reference rankings of the same tickets, and what it answers. It owns
// the runs, their result, and the comparison of two results. It does not know how the service
// ranks, nor where settings come from.
package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	depth          = 100 // maximum rank considered
	clients        = 2   // concurrent requests
	requestTimeout = time.Minute
	indexTimeout   = 15 * time.Minute // to read all tickets and index them for reference
)

// Run is one measurement of rankings: a running service, an owner's connection to its database,
// which already holds the collection's tickets, and the queries.
type Run struct {
	Service    Service
	Connection *pgx.Conn
	Queries    []Query
	Progress   func(step string)
}

// ranker returns the best items for a query, at most depth.
type ranker func(ctx context.Context, query Query) ([]string, error)

// Do ranks all queries by the service and by the reference, and compares the tickets that
// duplicate one another.
func (r Run) Do(ctx context.Context) (rows []Row, err error) {
	tickets, err := idsByKey(ctx, r.Connection)
	if err != nil {
		return nil, err
	}
	postgres, err := newPostgres(ctx, r.Connection)
	if err != nil {
		return nil, err
	}
	drafts, stored := &comparison{service: r.Service}, &comparison{service: r.Service, tickets: tickets}
	for _, ranking := range []struct {
		name    string
		queries []Query
		rank    ranker
		atOnce  int
		flags   *comparison
	}{
		{"keyword", r.Queries, r.Service.keyword, clients, nil},
		{"vector", r.Queries, r.Service.vector, clients, nil},
		{"hybrid, rrf", r.Queries, Service{URL: r.Service.URL, Fusion: "rrf"}.listed, clients, nil},
		{"hybrid, convex", r.Queries, Service{URL: r.Service.URL, Fusion: "convex"}.listed, clients, nil},
		{"similar to a draft", r.Queries, drafts.rank, clients, drafts},
		{"similar to a stored ticket", siblings(r.Queries, tickets), stored.rank, clients, stored},
		// A connection runs one query at a time.
		{"reference: any word, ts_rank", r.Queries, postgres.rank, 1, nil},
	} {
		if len(ranking.queries) == 0 {
			continue // no query has two relevant tickets
		}
		r.Progress("ranking by " + ranking.name)
		row, err := rankAll(ctx, ranking.name, ranking.queries, ranking.rank, ranking.atOnce)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ranking.name, err)
		}
		if ranking.flags != nil {
			row.Flags = &ranking.flags.flags
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// rankAll ranks all queries with one method, some of them concurrently.
func rankAll(ctx context.Context, name string, queries []Query, rank ranker, atOnce int) (Row, error) {
	ranked := make([][]string, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, q := range queries {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err // another query failed
			}
			if ranked[i], err = rank(ctx, q); err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			return nil
		})
	}
	err := group.Wait()
	return newRow(name, ranked, queries), err
}

// idsByKey reads the tickets.
func idsByKey(ctx context.Context, connection *pgx.Conn) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	tickets := map[string]int64{}
	rows, err := connection.Query(ctx, "select key, ticket_id from public.tickets")
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	var key string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error { tickets[key] = id; return nil })
	return tickets, err
}
