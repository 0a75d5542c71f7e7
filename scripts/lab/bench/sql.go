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

const memberOfAll = "00000000-0000-4000-8000-000000000100"

// variant is a statement to be timed.
type variant struct {
	name     string
	efSearch int  // of a plain statement, which also has enable_seqscan off; 0 for functions
	ordered  bool // uses the vector index, where the planner would scan a small collection
	user     bool // run as a member of all projects, not as the service
	sql      string
	args     func(q asked) []any
}

// asked is a query with its embedding in pgvector's format.
type asked struct {
	text      string
	embedding []byte
}

func ask(q Query) asked { return asked{q.Text, encodeVector(Embed(q.Text, 1536))} }

// readLegSearch returns the ef_search of the vector leg, which stays set until its transaction
// ends. No row passes the threshold 2, so the leg does not widen its search.
func readLegSearch(ctx context.Context, connection *pgx.Conn, q asked) (efSearch int, err error) {
	err = asService(ctx, connection, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`select from public.search_by_vector($1, '%s', 2, %d)`, model, vectorCandidates), q.embedding); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select current_setting('hnsw.ef_search')::integer`).Scan(&efSearch)
	})
	if err != nil {
		return 0, fmt.Errorf("read the ef_search of the vector leg: %w", err)
	}
	return efSearch, nil
}

func variants(index vectorIndex, legSearch int) []variant {
	both := func(q asked) []any { return []any{q.text, q.embedding} }
	vector := func(q asked) []any { return []any{q.embedding} }
	word := func(q asked) []any { return []any{q.text} }
	return []variant{
		{"search_hybrid", 0, false, false, fmt.Sprintf(`select * from public.search_hybrid($1, $2, '%s', %v, %d)`, model, threshold, results), both},
		{"search_hybrid without the commonest word", 0, false, false, fmt.Sprintf(`select * from public.search_hybrid($1, $2, '%s', %v, %d)`, model, threshold, results), func(q asked) []any {
			return []any{q.text + " -" + words().words[0], q.embedding}
		}},
		{"keyword leg: search_by_keyword, 1,000", 0, false, false, fmt.Sprintf(`select * from public.search_by_keyword($1, %d)`, keywordCandidates), word},
		{"vector leg: search_by_vector, 100", 0, false, false, fmt.Sprintf(`select * from public.search_by_vector($1, '%s', %v, %d)`, model, threshold, vectorCandidates), vector},
		{"retrieve_chunks, 40", 0, false, false, fmt.Sprintf(`select * from public.retrieve_chunks($1, '%s', %v, 40)`, model, threshold), vector},
		{"similar_tickets of a draft, 10", 0, false, false, fmt.Sprintf(`select * from public.similar_tickets($2, '%s', %d, query_text => $1)`, model, results), both},
		// Any ticket, the same one in every run.
		{"find_similar_tickets, 10", 0, false, false, fmt.Sprintf(`select f.* from (
			select t.ticket_id from public.tickets t where t.ticket_id >= abs(hashtext($1)) %% (select max(m.ticket_id) from public.tickets m) order by 1 limit 1) t
			cross join lateral public.find_similar_tickets(t.ticket_id, '%s', %d) f`, model, results), word},
		{"plain pgvector, nearest 100, the vector leg's ef_search", legSearch, true, false, fmt.Sprintf(`select c.chunk_id, %[1]s from public.chunks c
			where c.embedding_set = 1 order by %[1]s limit %[2]d`, index.distance("c", "$1::extensions.vector"), vectorCandidates), vector},
		{"the usual recipe, any word", 40, false, false, fmt.Sprintf(`select * from bench.hybrid_any_word($1, $2, %d)`, results), both},
	}
}

// Timing is how long a statement took.
type Timing struct {
	Statement    string  `json:"statement"`
	Milliseconds float64 `json:"ms"`
}

// timeTurn runs query i in every variant. The order rotates, or each variant would always find the
// cache as the same other one left it.
func timeTurn(ctx context.Context, connection *pgx.Conn, all []variant, q asked, i int) ([]Timing, error) {
	turn := make([]Timing, len(all))
	for k := range all {
		at := (i + k) % len(all)
		took, err := timeStatement(ctx, connection, all[at], q)
		if err != nil {
			return nil, fmt.Errorf("time %s: %w", all[at].name, err)
		}
		turn[at] = Timing{all[at].name, milliseconds(took)}
	}
	return turn, nil
}

// timed holds the milliseconds of each query by statement.
type timed map[string][]float64

func (t timed) add(turn []Timing) {
	for _, one := range turn {
		t[one.Statement] = append(t[one.Statement], one.Milliseconds)
	}
}

// asUser adds each function again, run as a user.
func asUser(all []variant) []variant {
	for _, v := range all {
		if strings.Contains(v.sql, "public.") && v.efSearch == 0 {
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
		as = caller{userID: memberOfAll}.do
	}
	err = as(ctx, connection, func(tx pgx.Tx) error {
		if v.efSearch > 0 {
			// The planner underestimates the cost of fetching vectors and would scan all 10,000.
			_, err := tx.Exec(ctx, `select set_config('hnsw.ef_search', $1, true), set_config('enable_seqscan', 'off', true),
				set_config('enable_sort', case when $2 then 'off' else 'on' end, true)`, fmt.Sprint(v.efSearch), v.ordered)
			if err != nil {
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

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// prepareStatements makes the statements that a loaded database is timed with.
func (r Run) prepareStatements(ctx context.Context) ([]variant, error) {
	if err := makeRecipe(ctx, r.Connection); err != nil {
		return nil, err
	}
	index, err := readIndex(ctx, r.Connection)
	if err != nil {
		return nil, err
	}
	legSearch, err := readLegSearch(ctx, r.Connection, ask(r.Collection.Query(0)))
	if err != nil {
		return nil, err
	}
	member := caller{userID: memberOfAll}
	for project := range r.Collection.Projects() {
		member.sees = append(member.sees, int64(project+1))
	}
	if err := member.join(ctx, r.Connection); err != nil {
		return nil, err
	}
	return asUser(variants(index, legSearch)), nil
}

// statements measures the SQL functions, plain pgvector and the usual recipe. They alternate, so
// that other load on the machine affects all alike. The first queries warm up and do not count.
func (r Run) statements(ctx context.Context) ([]Table, error) {
	r.Progress("timing statements")
	all, err := r.prepareStatements(ctx)
	if err != nil {
		return nil, err
	}
	took := timed{}
	warmUp := r.Queries / 10
	for i := range warmUp + r.Queries {
		turn, err := timeTurn(ctx, r.Connection, all, ask(r.Collection.Query(i)), i)
		if err != nil {
			return nil, err
		}
		if i >= warmUp {
			took.add(turn)
		}
	}
	table := Table{
		Title: "Statements, ms", Header: []string{"statement", "p50", "p95", "p99", "ratio"},
		Caption: fmt.Sprintf("%d queries in turn on one connection, as service_role or as a member of all projects, after %d to warm up. The ratio is the user's p50 to the service's. The threshold is %v. "+
			"The usual recipe is Supabase's guide to hybrid search over the same texts and vector index, with pgvector's own ef_search. "+
			"It and the plain statement run with enable_seqscan off, because the planner avoids the indexes where it should not.", r.Queries, warmUp, threshold),
	}
	for _, v := range all {
		beside := "–"
		if v.user {
			beside = ratio(measure.Quantile(took[v.name], 0.5), measure.Quantile(took[strings.TrimSuffix(v.name, userSuffix)], 0.5))
		}
		table.Rows = append(table.Rows, append(append([]string{v.name}, quantiles(took[v.name])...), beside))
	}
	return []Table{table}, nil
}
