package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// Judged is a query and the keys of its relevant tickets.
type Judged struct {
	Text     string
	Relevant measure.Judged
}

// rankEverything creates the exact ranking by keyword, which any caller can run though not what it
// calls: every ticket that contains a word of the query is ranked.
func rankEverything(ctx context.Context, connection *pgx.Conn) error {
	_, err := connection.Exec(ctx, `create schema if not exists bench;
		grant usage on schema bench to authenticated, service_role;
		create or replace function bench.rank_everything(query_text text, match_count integer, filters jsonb default null)
		returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, exact boolean)
		language sql stable security definer set search_path = ''
		as $$
			select r.rank, r.project_id, r.ticket_id, r.score, r.tier > 0
			from tasklens.rank_entries(tasklens.begin_search(query_text, filters), match_count, 100000000, 100000000, 100) r
		$$`)
	if err != nil {
		return fmt.Errorf("create the exact ranking: %w", err)
	}
	return nil
}

const (
	boundSQL = `select coalesce(t.key, 'project ' || r.project_id), r.keyword_score
		from public.search_by_keyword($1, 10) r left join public.tickets t on t.ticket_id = r.ticket_id order by r.rank`
	unboundSQL = `select coalesce(t.key, 'project ' || r.project_id), r.score
		from bench.rank_everything($1, 10) r left join public.tickets t on t.ticket_id = r.ticket_id order by r.rank`
)

var boundHeader = []string{"tickets", "queries", "same top hit", "nDCG@10", "ranking everything", "difference", "p50, ms", "ranking everything"}

const boundCaption = "search_by_keyword, which ranks only candidates with the rare words of a query, compared with the same ranking of everything that contains any of them. " +
	"The top hit counts as the same if the ticket or its score is. Goals: the same for 99%, and a difference of at most 0.005."

// bound compares the ranking of candidates with that of everything and returns a table row.
func bound(ctx context.Context, connection *pgx.Conn, name string, queries []Judged, progress func(string)) ([]string, error) {
	progress("ranking everything by keyword: " + name)
	if err := rankEverything(ctx, connection); err != nil {
		return nil, err
	}
	var same float64
	var ours, all, tookOurs, tookAll []float64
	for _, q := range queries {
		candidates, once, err := rankKeys(ctx, connection, boundSQL, q.Text)
		if err != nil {
			return nil, err
		}
		everything, twice, err := rankKeys(ctx, connection, unboundSQL, q.Text)
		if err != nil {
			return nil, err
		}
		if sameTop(candidates, everything) {
			same++
		}
		ours, all = append(ours, measure.NDCG(keys(candidates), q.Relevant, depth)), append(all, measure.NDCG(keys(everything), q.Relevant, depth))
		tookOurs, tookAll = append(tookOurs, milliseconds(once)), append(tookAll, milliseconds(twice))
	}
	return []string{name, fmt.Sprint(len(queries)), percent(same / float64(len(queries))),
		fmt.Sprintf("%.4f", measure.Mean(ours)), fmt.Sprintf("%.4f", measure.Mean(all)), fmt.Sprintf("%+.4f", measure.Mean(ours)-measure.Mean(all)),
		number(measure.Quantile(tookOurs, 0.5)), number(measure.Quantile(tookAll, 0.5))}, nil
}

type scored struct {
	key   string
	score float64
}

func rankKeys(ctx context.Context, connection *pgx.Conn, sql, query string) (ranked []scored, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	err = asService(ctx, connection, func(tx pgx.Tx) error {
		started := time.Now()
		rows, err := tx.Query(ctx, sql, query)
		if err != nil {
			return err
		}
		ranked, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s scored, err error) { return s, row.Scan(&s.key, &s.score) })
		took = time.Since(started)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("rank by keyword: %w", err)
	}
	return ranked, took, nil
}

// sameTop reports whether two rankings have the same first hit.
func sameTop(a, b []scored) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	const rounding = 1e-9
	return a[0].key == b[0].key || a[0].score >= b[0].score-rounding
}

func keys(ranked []scored) (out []string) {
	for _, s := range ranked {
		out = append(out, s.key)
	}
	return out
}
