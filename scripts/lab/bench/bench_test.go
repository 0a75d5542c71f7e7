package bench_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/internal/vector"
	"tasklens/scripts/lab/bench"
	"tasklens/scripts/lab/measure"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api/apitest"
)

// connect opens a connection as the verb does, after the preparation of scripts/bench.
func connect(t *testing.T, database *testbed.DB) (run bench.Run) {
	t.Helper()
	if _, err := testbed.Connect(t, database.SuperuserURL).Exec(t.Context(), `create extension pg_prewarm with schema extensions`); err != nil {
		t.Fatal(err)
	}
	connection, err := bench.Connect(t.Context(), database.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return bench.Run{Connection: connection, Progress: func(string) {}}
}

// start runs the service over a database and the model stand-in.
func start(t *testing.T, database *testbed.DB, run *bench.Run) {
	t.Helper()
	service := apitest.Start(t, database, bench.NewModel(run.Delays))
	run.Service = bench.Endpoint{URL: service.URL}
	run.Model = bench.Endpoint{URL: service.ModelURL}
}

// cells returns the rows of the printed tables by their first cell.
func cells(report string) map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows[row[0]] = row[1:]
	}
	return rows
}

func TestEverythingIsMeasured(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	run := connect(t, database)
	run.Collection, run.Queries, run.Lasting, run.Parts = bench.WithChunks(1200), 12, 100*time.Millisecond, bench.Parts
	run.Clients, run.Documents = []int{1, 4}, 200
	run.Delays = bench.Delays{Embed: 2 * time.Millisecond, Chat: 5 * time.Millisecond}
	start(t, database, &run)
	var out strings.Builder
	if err := run.Do(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	report := out.String()
	var answers strings.Builder
	if err := run.Turns(t.Context(), strings.NewReader("\n\n"), &answers); err != nil {
		t.Fatal(err)
	}
	if turns := turnsOf(t, answers.String()); len(turns) != 2 || len(turns[0]) != 16 || turns[1][0].Statement != "search_hybrid" || turns[1][15].Milliseconds <= 0 {
		t.Errorf("turns are %v", turns)
	}
	for _, part := range []string{
		`(?m)^### 1200 chunks of \d{3} tickets with \d{3} comments$`,
		`(?m)^\d{4}-\d\d-\d\d on \d+ processors .*Postgres \d+\.\d+, pgvector \d+\.`,
		"#### Loading, and sizes\n", "#### Statements, ms\n",
		"#### Recall@10 of vector search", "#### Filters\n", "#### What callers find", "#### POST /api/hybrid-search, ",
		"#### With a model that takes 2ms for an embedding and 5ms for a chat, ms\n", `endpoint and load .*\| +mean \| +p50 \| +p95 \|`, `load .*\| +mean \| +p50 \| +p95 \| +p99 \|`, "#### What service and database add to the model's time at 10 ",
	} {
		if !regexp.MustCompile(part).MatchString(report) {
			t.Errorf("%q is not in the report", part)
		}
	}
	rows := cells(report)
	positive := func(row string, columns ...int) {
		t.Helper()
		for _, column := range columns {
			if column >= len(rows[row]) {
				t.Errorf("%q has the cells %q", row, rows[row])
				return
			}
			if value, err := strconv.ParseFloat(rows[row][column], 64); err != nil || value <= 0 {
				t.Errorf("%q has %q in column %d", row, rows[row][column], column)
			}
		}
	}
	for _, row := range []string{
		"search_hybrid", "keyword leg: search_by_keyword, 1,000", "vector leg: search_by_vector, 100", "retrieve_chunks, 40",
		"similar_tickets of a draft, 10", "find_similar_tickets, 10", "plain pgvector, nearest 100, the vector leg's ef_search", "the usual recipe, any word",
	} {
		positive(row, 0, 1, 2)
	}
	for _, row := range []string{"search_hybrid, as a user", "search_hybrid without the commonest word, as a user", "find_similar_tickets, 10, as a user"} {
		positive(row, 0, 1, 2, 3)
	}
	for _, row := range []string{"10 requests a second", "1 client", "4 clients"} {
		for _, kind := range []string{", uncached", ", cached"} {
			positive(row+kind, 0, 2, 3, 4, 5, 6)
			if got := rows[row+kind]; len(got) != 7 || got[1] != "0" {
				t.Errorf("%s%s: %q: want no failure", row, kind, got)
			}
		}
	}
	for _, row := range []string{"/api/query, 10 requests a second, uncached", "/api/query, 4 clients, cached", "/api/hybrid-search, 4 clients, uncached"} {
		positive(row, 0, 2, 3, 4, 5)
	}
	for row, least := range map[string]float64{"/api/hybrid-search": 2, "/api/query": 7} {
		positive(row, 0, 1, 2, 3)
		if alone, _ := strconv.ParseFloat(rows[row][2], 64); alone < least {
			t.Errorf("%s: the model alone takes %v ms, want at least %v", row, alone, least)
		}
	}
	// So few chunks are all compared, with any filter.
	for _, row := range []string{"none", "project of 50%", "status of 10%", "project of one ticket", "project of 10% on other topics", "none; about a ticket of 131 chunks"} {
		positive(row, 0)
		if got := rows[row]; len(got) < 6 || got[2] != "1.000" || got[5] != "1.000" {
			t.Errorf("%s: %q: want full recall", row, got)
		}
	}
	for _, row := range []string{"label", "created", "assignee", "label, type, not label, created"} {
		positive(row, 5, 8, 11)
		if got := rows[row]; len(got) < 5 || got[1] != "1.000" || got[3] != "1.000" {
			t.Errorf("%s: %q: want full recall of both legs", row, got)
		}
	}
	for _, row := range []string{"5; as they are", "200; 0.1, 0.3, 0.3, 0.3", "10 of both", "100 of both"} {
		positive(row, 0, 3, 4)
		// Three hundred candidates of 1,200 chunks.
		if got := rows[row]; len(got) != 5 || got[1] < "0.99" {
			t.Errorf("%s: %q: want nearly full recall", row, got)
		}
	}
}

func TestADatabaseIsLoadedOnce(t *testing.T) {
	t.Parallel()
	run := connect(t, testbed.Database(t))
	first, err := bench.Load(t.Context(), run.Connection, bench.WithChunks(150), run.Progress)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bench.Load(t.Context(), run.Connection, bench.WithChunks(150), func(step string) { t.Errorf("again: %s", step) })
	if err != nil || again.Chunks != 150 || again.Tickets != first.Tickets || again.Index.Round(time.Millisecond) != first.Index.Round(time.Millisecond) {
		t.Errorf("loaded again: %+v, %v; at first %+v", again, err, first)
	}
	if _, err := bench.Load(t.Context(), run.Connection, bench.WithChunks(200), run.Progress); err == nil {
		t.Error("a different collection was accepted")
	}
	var chunks, entries, own int
	err = run.Connection.QueryRow(t.Context(), `select (select count(*) from public.chunks), (select count(*) from public.keyword_entries e where e.ticket_id is not null),
		(select count(*) from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'public.chunks'::regclass and c.relname = 'chunks_embedding_idx')`).Scan(&chunks, &entries, &own)
	if err != nil || chunks != 150 || entries != first.Tickets || own != 1 {
		t.Errorf("%d chunks, %d entries of %d tickets, %d vector indexes, %v", chunks, entries, first.Tickets, own, err)
	}
}

// The benchmark measures memory, not the disk: after a restart everything is prewarmed.
func TestWhatIsMeasuredIsInMemory(t *testing.T) {
	t.Parallel()
	run := connect(t, testbed.Database(t))
	load := func() {
		t.Helper()
		if _, err := bench.Load(t.Context(), run.Connection, bench.WithChunks(150), run.Progress); err != nil {
			t.Fatal(err)
		}
	}
	// Pages requested of the table, its TOAST table and its indexes.
	asked := func() (table, indexes int) {
		t.Helper()
		if _, err := run.Connection.Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
		err := run.Connection.QueryRow(t.Context(), `select heap_blks_read + heap_blks_hit + toast_blks_read + toast_blks_hit,
				idx_blks_read + idx_blks_hit + tidx_blks_read + tidx_blks_hit
			from pg_statio_user_tables where relid = 'public.keyword_entries'::regclass`).Scan(&table, &indexes)
		if err != nil {
			t.Fatal(err)
		}
		return table, indexes
	}
	load()
	tableBefore, indexesBefore := asked()
	load()
	table, indexes := asked()
	var tablePages, indexPages int
	err := run.Connection.QueryRow(t.Context(), `select (pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid)) / 8192, (
			select sum(pg_relation_size(i.indexrelid)) from pg_index i where i.indrelid in (c.oid, c.reltoastrelid)) / 8192
		from pg_class c where c.oid = 'public.keyword_entries'::regclass`).Scan(&tablePages, &indexPages)
	if err != nil {
		t.Fatal(err)
	}
	if table-tableBefore < tablePages || indexes-indexesBefore < indexPages {
		t.Errorf("%d of %d pages of the table and %d of %d of its indexes were read", table-tableBefore, tablePages, indexes-indexesBefore, indexPages)
	}
}

// fixed is a model with the same embedding for every query.
type fixed struct{}

func (fixed) EmbeddingModel() string { return offline.EmbeddingModel }

func (fixed) Embed(_ context.Context, _ string, _ []string) ([]vector.Vector, []int, error) {
	v := make(vector.Vector, vector.Dimensions)
	v[0] = 1
	return []vector.Vector{v}, nil, nil
}

func TestARealCollectionIsMeasured(t *testing.T) {
	t.Parallel()
	run := connect(t, testbed.Database(t))
	collection := bench.WithTickets(30)
	if _, err := bench.Load(t.Context(), run.Connection, collection, run.Progress); err != nil {
		t.Fatal(err)
	}
	real := bench.Real{Connection: run.Connection, Model: fixed{}, Progress: run.Progress}
	for i := range 10 {
		real.Queries = append(real.Queries, bench.Judged{Text: collection.QueryFor(i, i).Text, Relevant: measure.Judged{collection.Ticket(i).Key(): 1}})
	}
	var out strings.Builder
	if err := real.Do(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	// So few tickets are all candidates.
	row := cells(out.String())["30"]
	if len(row) != 7 || row[1] != "100%" || row[2] != row[3] || row[2] < "0.5" || row[4] != "+0.0000" {
		t.Errorf("keyword search: %q in\n%s", row, &out)
	}
	if !strings.Contains(out.String(), "30 real tickets, embedded by "+offline.EmbeddingModel) || !strings.Contains(out.String(), "#### Recall@10 of vector search") {
		t.Errorf("reported:\n%s", &out)
	}
}
