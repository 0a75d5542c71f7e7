package eval

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// postgres ranks with Postgres's full-text search as most guides show it. It indexes the tickets in
// a temporary table, independent of the service's own ranking.
type postgres struct{ connection *pgx.Conn }

func newPostgres(ctx context.Context, connection *pgx.Conn) (postgres, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	for _, statement := range []string{
		`drop table if exists pg_temp.reference`,
		`create temporary table reference as
			select t.ticket_id, t.key, setweight(to_tsvector('english', left(t.name, 200000)), 'A')
				|| setweight(to_tsvector('english', left(coalesce(t.description, ''), 200000)), 'B') as words
			from public.tickets t`,
		`create index on pg_temp.reference using gin (words)`,
		`analyze pg_temp.reference`,
	} {
		if _, err := connection.Exec(ctx, statement); err != nil {
			return postgres{}, fmt.Errorf("index tickets for reference: %w", err)
		}
	}
	return postgres{connection}, nil
}

// rank orders the tickets that have any word of the query by ts_rank with its default weights.
func (p postgres) rank(ctx context.Context, query Query) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rows, err := p.connection.Query(ctx, `select r.key
		from pg_temp.reference r, (select replace(plainto_tsquery('english', $1)::text, ' & ', ' | ')::tsquery) q(words)
		where r.words @@ q.words order by ts_rank(r.words, q.words) desc, r.ticket_id limit $2`, query.Text, depth)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
