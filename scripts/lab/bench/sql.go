package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// The numbers of candidates that search_hybrid requests from its legs, and of results that the
// service requests.
const (
	vectorCandidates  = 100
	keywordCandidates = 1000
	results           = 10
	threshold         = 0.7 // the service's default
)

const statementTimeout = time.Minute

// memberOfAll is a user who is a member of every project.
const memberOfAll = "00000000-0000-4000-8000-000000000100"

// variant is a statement to be timed.
type variant struct {
	name  string
	plain bool // not a function: ef_search and enable_seqscan are set for it
	user  bool // run as a member of all projects, not as the service
	sql   string
	args  func(q asked) []any
}

// asked is a query with its embedding in pgvector's format.
type asked struct {
	text      string
	embedding []byte
}

func ask(text string) asked { return asked{text, encodeVector(Embed(text))} }

func variants() []variant {
	both := func(q asked) []any { return []any{q.text, q.embedding} }
	vector := func(q asked) []any { return []any{q.embedding} }
	word := func(q asked) []any { return []any{q.text} }
	hybrid := fmt.Sprintf(`select * from public.search_hybrid($1, $2, '%s', %v, %d)`, model, threshold, results)
	return []variant{
		{name: "search_hybrid", sql: hybrid, args: both},
		{name: "keyword leg: search_by_keyword, 1,000", sql: fmt.Sprintf(`select * from public.search_by_keyword($1, %d)`, keywordCandidates), args: word},
		{name: "vector leg: search_by_vector, 100", sql: fmt.Sprintf(`select * from public.search_by_vector($1, '%s', %v, %d)`, model, threshold, vectorCandidates), args: vector},
		{name: "retrieve_chunks, 40", sql: fmt.Sprintf(`select * from public.retrieve_chunks($1, '%s', %v, 40)`, model, threshold), args: vector},
		{name: "similar_tickets of a draft, 10", sql: fmt.Sprintf(`select * from public.similar_tickets($2, '%s', %d, query_text => $1)`, model, results), args: both},
		// Any ticket, the same one in every run.
		{name: "find_similar_tickets, 10", sql: fmt.Sprintf(`select f.* from (
			select t.ticket_id from public.tickets t where t.ticket_id >= abs(hashtext($1)) %% (select max(m.ticket_id) from public.tickets m) order by 1 limit 1) t
			cross join lateral public.find_similar_tickets(t.ticket_id, '%s', %d) f`, model, results), args: word},
		{name: "plain pgvector, nearest 100", plain: true, args: vector, sql: fmt.Sprintf(`select c.chunk_id, c.embedding operator(extensions.<=>) $1::extensions.vector as distance
			from public.chunks c where c.embedding_set = 1 order by %%s operator(extensions.<=>) %%s limit %d`, vectorCandidates)},
	}
}

// timings holds the milliseconds of each query by statement.
type timings map[string][]float64

// timeTurn runs query i in every variant. The order rotates, or each variant would always find the
// cache as the same other one left it.
func (t timings) timeTurn(ctx context.Context, connection *pgx.Conn, all []variant, q asked, i int) error {
	for k := range all {
		v := all[(i+k)%len(all)]
		took, err := timeStatement(ctx, connection, v, q)
		if err != nil {
			return fmt.Errorf("time %s: %w", v.name, err)
		}
		t[v.name] = append(t[v.name], milliseconds(took))
	}
	return nil
}

// asUser adds each function again, run as a user.
func asUser(all []variant) []variant {
	for _, v := range all {
		if !v.plain {
			v.name, v.user = v.name+userSuffix, true
			all = append(all, v)
		}
	}
	return all
}

const userSuffix = ", as a user"

// timeStatement runs a statement as PostgREST does, prepared and as service_role or as a user. Only
// the statement is timed.
func timeStatement(ctx context.Context, connection *pgx.Conn, v variant, q asked) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	as := asService
	if v.user {
		as = asMember
	}
	err = as(ctx, connection, func(tx pgx.Tx) error {
		if v.plain {
			// With the vector leg's reach. The planner underestimates the cost of fetching vectors and
			// would scan all 10,000.
			if _, err := tx.Exec(ctx, `select set_config('enable_seqscan', 'off', true), set_config('hnsw.ef_search', least(1000, greatest(165, 0.6 * sqrt(c.reltuples), c.reltuples / 1000))::integer::text, true)
				from pg_catalog.pg_class c where c.oid = 'public.chunks'::regclass`); err != nil {
				return err
			}
		}
		started := time.Now()
		rows, err := tx.Query(ctx, v.sql, v.args(q)...)
		if err != nil {
			return err
		}
		for rows.Next() {
			_ = rows.RawValues()
		}
		took = time.Since(started)
		return rows.Err()
	})
	return took, err
}

// asService runs a function in a transaction of service_role.
func asService(ctx context.Context, connection *pgx.Conn, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local role service_role"); err != nil {
			return err
		}
		return do(tx)
	})
}

// asMember runs a function in a transaction of memberOfAll, with its role and claims, as PostgREST
// does.
func asMember(ctx context.Context, connection *pgx.Conn, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select set_config('role', 'authenticated', true), set_config('request.jwt.claims', jsonb_build_object('sub', $1::text)::text, true)`, memberOfAll)
		if err != nil {
			return err
		}
		return do(tx)
	})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// prepareStatements makes the statements that a database is timed with.
func (r Run) prepareStatements(ctx context.Context) ([]variant, error) {
	const join = `insert into public.project_members (project_id, user_id) select p.project_id, $1 from public.projects p on conflict do nothing`
	if _, err := r.Connection.Exec(ctx, join, memberOfAll); err != nil {
		return nil, fmt.Errorf("add a member: %w", err)
	}
	all := variants()
	var indexed string
	if err := r.Connection.QueryRow(ctx, `select pg_get_indexdef('public.chunks_embedding_idx'::regclass, 1, false)`).Scan(&indexed); err != nil {
		return nil, fmt.Errorf("read the vector index: %w", err)
	}
	last := len(all) - 1 // the plain one, which is another search if the index has a part of each vector
	if strings.Contains(indexed, "subvector") || strings.Contains(indexed, "binary_quantize") {
		return asUser(all[:last]), nil
	}
	all[last].sql = fmt.Sprintf(all[last].sql, indexed, strings.Replace(indexed, "embedding", "$1::extensions.vector", 1))
	return asUser(all), nil
}

// statements measures the SQL functions and plain pgvector. They alternate, so
// that other load on the machine affects all alike. The first queries warm up and do not count.
func (r Run) statements(ctx context.Context) (Table, error) {
	r.Progress("timing statements")
	all, err := r.prepareStatements(ctx)
	if err != nil {
		return Table{}, err
	}
	took := timings{}
	warmUp := r.Queries / 10
	for i := range warmUp + r.Queries {
		if i == warmUp {
			clear(took)
		}
		if err := took.timeTurn(ctx, r.Connection, all, ask(r.Collection.Query(i)), i); err != nil {
			return Table{}, err
		}
	}
	table := Table{
		Title: "Statements, ms", Header: []string{"statement", "p50", "p95", "p99", "ratio"},
		Caption: fmt.Sprintf("%d queries in turn on one connection, as service_role or as a member of all projects, after %d to warm up. The ratio is the user's p50 to the service's. The threshold is %v. "+
			"The plain statement runs with enable_seqscan off, because the planner avoids the index where it should not.", r.Queries, warmUp, threshold),
	}
	for _, v := range all {
		row := []string{v.name}
		for _, p := range []float64{0.5, 0.95, 0.99} {
			row = append(row, number(measure.Quantile(took[v.name], p)))
		}
		beside := "–"
		if v.user {
			beside = ratio(measure.Quantile(took[v.name], 0.5), measure.Quantile(took[strings.TrimSuffix(v.name, userSuffix)], 0.5))
		}
		table.Rows = append(table.Rows, append(row, beside))
	}
	return table, nil
}
