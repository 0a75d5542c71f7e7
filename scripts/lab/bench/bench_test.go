package bench_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/bench"
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
	run := connect(t, testbed.Database(t))
	run.Collection, run.Queries, run.Parts = bench.WithChunks(1200), 12, bench.Parts
	other := connect(t, testbed.Database(t))
	var out, beside strings.Builder
	if _, err := run.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As if the load had been interrupted between two batches.
	if _, err := run.Connection.Exec(t.Context(), `delete from bench.loaded; delete from public.chunks where ticket_id > 60; delete from public.tickets where ticket_id > 90`); err != nil {
		t.Fatal(err)
	}
	if err := run.Do(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var tickets, chunks int
	if err := run.Connection.QueryRow(t.Context(), `select (select count(*) from public.tickets), (select count(*) from public.chunks)`).Scan(&tickets, &chunks); err != nil {
		t.Fatal(err)
	}
	if tickets != run.Collection.Tickets() || chunks != run.Collection.Chunks() {
		t.Errorf("an interrupted load ended with %d tickets and %d chunks", tickets, chunks)
	}
	if _, err := other.Connection.Exec(t.Context(), `drop function public.retrieve_chunks`); err != nil {
		t.Fatal(err)
	}
	if err := run.Against(t.Context(), other.Connection, &beside); err != nil {
		t.Fatal(err)
	}
	if rows := cells(beside.String()); len(rows) != 13 || len(rows["search_hybrid"]) != 7 || rows["search_hybrid"][2] <= "0.0" || rows["retrieve_chunks, 40"] != nil {
		t.Errorf("beside another checkout: %s", &beside)
	}
	for _, part := range []string{`(?m)^### 1200 chunks of \d{3} tickets with \d{3} comments$`, `(?m)^\d{4}-\d\d-\d\d on \d+ processors .*Postgres \d+\.\d+, pgvector \d+\.`} {
		if !regexp.MustCompile(part).MatchString(out.String()) {
			t.Errorf("%q is not in the report", part)
		}
	}
	rows := cells(out.String())
	for _, row := range []string{
		"search_hybrid", "keyword leg: search_by_keyword, 1,000", "vector leg: search_by_vector, 100", "retrieve_chunks, 40", "similar_tickets of a draft, 10",
		"find_similar_tickets, 10, as a user", "plain pgvector, nearest 100", "search_hybrid, as a user",
	} {
		for column := range 3 {
			if len(rows[row]) != 4 || rows[row][column] <= "0.0" {
				t.Errorf("%s: %q", row, rows[row])
			}
		}
	}
	// So few chunks are all compared, with any filter.
	for _, row := range []string{"none", "project of 50%", "status of 10%", "project of one ticket", "project of 10%", "none; about a ticket of 120 chunks"} {
		if got := rows[row]; len(got) != 4 || got[0] == "0" || got[1] != "1.000" {
			t.Errorf("%s: %q: want full recall", row, got)
		}
	}
}
