package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// caller is a user who may see some projects, and a filter by which the service sees about as much.
type caller struct {
	name   string
	userID string
	sees   []int64
	byHand int64 // project
}

// callers are members of one project, a few, a large one, and all but the large one.
func (c Collection) callers() []caller {
	var others []int64
	for project := int64(2); project <= int64(c.Projects()); project++ {
		others = append(others, project)
	}
	all := []caller{
		{name: "one small project", sees: []int64{11}, byHand: 11},
		{name: "three small projects", sees: []int64{7, 8, 9}, byHand: 5},
		{name: "the largest project, half of all", sees: []int64{1}, byHand: 1},
		{name: fmt.Sprintf("%d projects, the other half", len(others)), sees: others, byHand: 1},
	}
	for i := range all {
		all[i].userID = fmt.Sprintf("00000000-0000-4000-8000-%012d", i+1)
	}
	return all
}

// permitted is a search, run as a caller and as the service with a filter ($3), and the true
// results.
type permitted struct {
	name  string
	found string // the ten best
	truth string // the ten best of the projects in $3, as the service; empty if there is no ground truth
	own   bool   // the truth is computed as the caller
}

func permittedSearches() []permitted {
	const by = `coalesce(x.ticket_id, -x.project_id)::text`
	best := fmt.Sprintf(`with asked as (select $1::text as text, $2::extensions.vector as embedding, $3::bigint%%s as projects) select %s from asked a cross join lateral (%%s) x limit %d`, by, depth)
	search := func(sql string) string { return fmt.Sprintf(best, "", sql) }
	return []permitted{
		{name: "search_hybrid, 10", found: search(fmt.Sprintf(`select * from public.search_hybrid(a.text, a.embedding, '%s', -1, %d, 0, a.projects)`, model, depth))},
		{
			name:  fmt.Sprintf("keyword leg: search_by_keyword, %d", keywordCandidates),
			found: search(fmt.Sprintf(`select * from public.search_by_keyword(a.text, %d, a.projects)`, keywordCandidates)),
			truth: fmt.Sprintf(best, "[]", fmt.Sprintf(`select * from bench.rank_everything(a.text, %d)`, depth)),
			own:   true,
		},
		{
			name:  fmt.Sprintf("vector leg: search_by_vector, %d", vectorCandidates),
			found: search(fmt.Sprintf(`select * from public.search_by_vector(a.embedding, '%s', -1, %d, a.projects)`, model, vectorCandidates)),
			truth: fmt.Sprintf(best, "[]", `select c.ticket_id, c.project_id from public.chunks c where c.embedding_set = 1 and c.project_id = any (a.projects)
				group by c.ticket_id, c.project_id order by min(c.embedding operator(extensions.<=>) a.embedding)`),
		},
		{name: "retrieve_chunks, 40", found: search(fmt.Sprintf(`select * from public.retrieve_chunks(a.embedding, '%s', -1, 40, a.projects)`, model))},
		{name: "similar_tickets, 10", found: search(fmt.Sprintf(`select * from public.similar_tickets(a.embedding, '%s', %d, null, a.projects, query_text => a.text)`, model, depth))},
	}
}

// block is how many queries one side runs before the other. The first of each block is not counted:
// both share a connection, which replans some statements when the role changes.
const block = 11

// permissions measures recall and speed under row-level security, compared with the service and a
// filter by hand.
func (r Run) permissions(ctx context.Context) ([]Table, error) {
	if err := rankEverything(ctx, r.Connection); err != nil {
		return nil, err
	}
	r.Progress("measuring callers")
	table := Table{
		Title:  "What callers find, and how fast",
		Header: []string{"caller: search", "of the chunks", "the filter's", "found of 10", "recall@10", "p50, ms", "filter by hand", "ratio"},
	}
	shares, err := readShares(ctx, r.Connection, model)
	if err != nil {
		return nil, err
	}
	worst := 0.0
	for _, c := range r.Collection.callers() {
		if err := c.join(ctx, r.Connection); err != nil {
			return nil, err
		}
		seen := 0.0
		for _, project := range c.sees {
			seen += shares.projects[project]
		}
		for _, search := range permittedSearches() {
			m, err := r.compare(ctx, c, search)
			if err != nil {
				return nil, fmt.Errorf("search as a caller of %s: %s: %w", c.name, search.name, err)
			}
			recall := "–"
			if len(m.recall) > 0 {
				recall = fmt.Sprintf("%.3f", measure.Mean(m.recall))
			}
			took, byHand := measure.Quantile(m.took, 0.5), measure.Quantile(m.byHand, 0.5)
			worst = max(worst, took/byHand)
			table.Rows = append(table.Rows, []string{c.name + ": " + search.name, percent(seen), percent(shares.projects[c.byHand]),
				fmt.Sprintf("%.2f", measure.Mean(m.found)), recall, number(took), number(byHand), ratio(took, byHand)})
		}
	}
	table.Caption = fmt.Sprintf("As authenticated, members of some of %d projects, compared with service_role and a project_filter that selects about as much; no threshold. "+
		"Recall is of the ten nearest by an exact scan, or of the ten best when everything is ranked. The worst ratio is %.2f; the goal is at most 2.", r.Collection.Projects(), worst)
	return []Table{table}, nil
}

// join adds the caller to their projects.
func (c caller) join(ctx context.Context, connection *pgx.Conn) error {
	_, err := connection.Exec(ctx, `insert into public.project_members (project_id, user_id) select unnest($1::bigint[]), $2::uuid on conflict do nothing`, c.sees, c.userID)
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	return nil
}

type permittedResult struct{ found, recall, took, byHand []float64 }

func (r Run) compare(ctx context.Context, c caller, search permitted) (m permittedResult, err error) {
	for start := 0; start < r.Queries; start += block {
		for i := range block {
			q := ask(r.Collection.Query(start + i))
			found, took, err := c.search(ctx, r.Connection, search.found, q, nil)
			if err != nil {
				return m, err
			}
			m.found = append(m.found, float64(len(found)))
			if i > 0 {
				m.took = append(m.took, milliseconds(took))
			}
			// Ranking everything is slow.
			if search.truth == "" || i > 0 {
				continue
			}
			asker := caller{}
			if search.own {
				asker = c
			}
			truth, _, err := asker.search(ctx, r.Connection, search.truth, q, c.sees)
			if err != nil {
				return m, err
			}
			if len(truth) > 0 {
				judged := measure.Judged{}
				for _, key := range truth {
					judged[key] = 1
				}
				m.recall = append(m.recall, measure.Recall(found, judged, depth))
			}
		}
		for i := range block {
			_, took, err := caller{}.search(ctx, r.Connection, search.found, ask(r.Collection.Query(start+i)), c.byHand)
			if err != nil {
				return m, err
			}
			if i > 0 {
				m.byHand = append(m.byHand, milliseconds(took))
			}
		}
	}
	return m, nil
}

// search runs as the caller, or as the service if there is no user. Only the statement is timed.
func (c caller) search(ctx context.Context, connection *pgx.Conn, sql string, q asked, projects any) (keys []string, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	as := asService
	if c.userID != "" {
		as = c.do
	}
	err = as(ctx, connection, func(tx pgx.Tx) error {
		started := time.Now()
		rows, err := tx.Query(ctx, sql, q.text, q.embedding, projects)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		took = time.Since(started)
		return err
	})
	return keys, took, err
}

// do runs a function in a transaction with the caller's role and claims, as PostgREST does.
func (c caller) do(ctx context.Context, connection *pgx.Conn, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select set_config('role', 'authenticated', true), set_config('request.jwt.claims', jsonb_build_object('sub', $1::text)::text, true)`, c.userID)
		if err != nil {
			return err
		}
		return do(tx)
	})
}
