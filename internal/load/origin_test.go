package load_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/testbed"
)

// files writes a new folder, or the file, with these contents.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	path := testbed.Folder(t, "files", contents)
	if len(contents) == 1 {
		path = filepath.Join(path, slices.Collect(maps.Keys(contents))[0])
	}
	return path
}

// stored lists the tickets as "KEY project: name".
func (b bench) stored(t testing.TB) map[string]string {
	t.Helper()
	rows, err := b.owner.Query(t.Context(), "select t.key, p.name || ': ' || t.name from tickets t join projects p using (project_id)")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var key, name string
		if err := rows.Scan(&key, &name); err != nil {
			t.Fatal(err)
		}
		all[key] = name
	}
	return all
}

// A ticket moves between projects of its own origin only. Keys made by hand are refused too, alone:
// the rest of the files is imported.
func TestTicketsOfOthersStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	folder := func(projects []string, tickets ...string) string {
		var p, rows strings.Builder
		for _, key := range projects {
			fmt.Fprintf(&p, `{"project_id":%q,"name":%[1]q}`+"\n", key)
		}
		for _, ticket := range tickets {
			key, project, _ := strings.Cut(ticket, " ")
			fmt.Fprintf(&rows, `{"ticket_id":%q,"project_id":%q,"name":"Number %[1]s"}`+"\n", key, project)
		}
		return files(t, map[string]string{"projects.jsonl": p.String(), "tickets.jsonl": rows.String()})
	}
	for _, c := range []struct {
		name    string
		rows    string
		options options
		origin  string
		bad     []string
		want    string
	}{
		{"first", folder([]string{"TX"}, "TX-400 TX", "TX-1 TX"), options{}, "jsonl TX", nil, "TX-1 TX, TX-400 TX"},
		{"another folder", folder([]string{"NEW"}, "tx-400 NEW", "NEW-1 NEW"), options{}, "jsonl NEW",
			[]string{"refused ticket TX-400: it was imported from jsonl TX"}, "NEW-1 NEW, TX-1 TX, TX-400 TX"},
		{"a project more", folder([]string{"OPS", "TX"}, "TX-400 OPS", "TX-1 TX"), options{}, "jsonl TX", nil, "NEW-1 NEW, TX-1 TX, TX-400 OPS"},
		{"by hand", folder([]string{"TX", "HAND"}, "TX-402 TX", "TX-1 TX", "HAND-1 HAND"), options{}, "jsonl TX",
			[]string{"refused project HAND: it was not imported; its tickets are refused too", "refused ticket TX-402: it was not imported"}, "NEW-1 NEW, TX-1 TX, TX-400 OPS, TX-402 TX"},
		{"taken over", folder([]string{"TX", "HAND"}, "TX-402 HAND"), options{Origin: "jsonl TX", TakeOver: true}, "jsonl TX", nil, "NEW-1 NEW, TX-1 TX, TX-400 OPS, TX-402 HAND"},
	} {
		if c.name == "by hand" {
			if _, err := b.owner.Exec(t.Context(), `insert into projects (key, name) values ('HAND', 'HAND');
				insert into tickets (key, project_id, status_id, name) select 'TX-402', project_id, (select min(status_id) from status), 'By hand' from projects where key = 'TX'`); err != nil {
				t.Fatal(err)
			}
		}
		var r told
		summary, err := b.load(t.Context(), b.db, c.rows, r.report(), c.options)
		if err != nil || r.origin != c.origin || !slices.Equal(r.bad, c.bad) {
			t.Errorf("%s: %v, from %q: %q; %+v", c.name, err, r.origin, r.bad, summary)
		}
		var got []string
		for key, name := range b.stored(t) {
			project, _, _ := strings.Cut(name, ":")
			got = append(got, key+" "+project)
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: stored are %q, want %s", c.name, got, c.want)
		}
	}
	// The files do not say which of two earlier imports they are.
	var r told
	_, err := b.load(t.Context(), b.db, folder([]string{"TX", "NEW"}, "TX-1 TX"), r.report(), options{})
	if err == nil || !strings.Contains(err.Error(), "jsonl NEW, jsonl TX") {
		t.Errorf("two origins: %v", err)
	}
}

// Any sequence of whole and interrupted imports of any exports leaves every ticket with the first
// origin that brought its key, as that origin last wrote it, and ends as an uninterrupted one does.
func TestImportsOfManyOrigins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		if round++; round > 30 { // each is up to eight imports
			return
		}
		type ticket struct{ origin, project, name string }
		want := map[string]ticket{}
		projects := map[string]string{} // their origins
		for step := range rapid.IntRange(1, 4).Draw(rt, "imports") {
			origin := rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "origin")
			project := fmt.Sprintf("R%d%s", round, rapid.SampledFrom([]string{"X", "Y"}).Draw(rt, "project"))
			var rows strings.Builder
			keys := rapid.SliceOfNDistinct(rapid.IntRange(1, 6), 1, 6, rapid.ID).Draw(rt, "numbers")
			for _, n := range keys {
				fmt.Fprintf(&rows, `{"ticket_id":"R%d-%d","project_id":%q,"name":"By %s in step %d"}`+"\n", round, n, project, origin, step)
			}
			reader := files(t, map[string]string{"projects.jsonl": fmt.Sprintf(`{"project_id":%q,"name":%[1]q}`, project), "tickets.jsonl": rows.String()})
			from := options{Origin: origin}
			var r told
			if rapid.Bool().Draw(rt, "interrupted") {
				ctx, stop := context.WithCancel(t.Context())
				_, err := b.load(ctx, &interrupted{Caller: b.db, stop: stop, left: 1}, reader, r.report(), from)
				if stop(); err == nil && len(r.bad) == 0 {
					rt.Fatal("the interrupted import ended well")
				}
			}
			if _, err := b.load(t.Context(), b.db, reader, r.report(), from); err != nil {
				rt.Fatal(err)
			}
			if first, known := projects[project]; known && first != origin {
				continue
			}
			projects[project] = origin
			for _, n := range keys {
				key := fmt.Sprintf("R%d-%d", round, n)
				if held, known := want[key]; !known || held.origin == origin {
					want[key] = ticket{origin, project, fmt.Sprintf("By %s in step %d", origin, step)}
				}
			}
		}
		got := b.stored(t)
		maps.DeleteFunc(got, func(key, _ string) bool { return !strings.HasPrefix(key, fmt.Sprintf("R%d-", round)) })
		expected := map[string]string{}
		for key, ticket := range want {
			expected[key] = ticket.project + ": " + ticket.name
		}
		if !maps.Equal(got, expected) {
			rt.Fatalf("stored are %v, want %v", got, expected)
		}
	})
}

// A key that another import adds at the same moment is refused like one that was there before.
func TestConcurrentImportsOfOneKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begin := func(origin string) (id int64) {
		t.Helper()
		if err := b.owner.QueryRow(t.Context(), `select import_id from begin_import($1)`, origin).Scan(&id); err != nil {
			t.Fatal(err)
		}
		if _, err := b.owner.Exec(t.Context(), `select from upsert_projects(jsonb_build_array(jsonb_build_object('key', 'P' || $1::text, 'name', $1)), $2)`, origin, id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	first, second := begin("a"), begin("b")
	const write = `select coalesce(max(held_by), 'ours') from upsert_tickets(jsonb_build_array(jsonb_build_object('key', 'K-1', 'project_key', 'P' || $1::text, 'status', 'To Do', 'name', $1)), $2)`
	tx, err := b.owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var held string
	if err := tx.QueryRow(t.Context(), write, "a", first).Scan(&held); err != nil || held != "ours" {
		t.Fatal(held, err)
	}
	other := b.connect(t)
	var pid int
	if err := other.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := other.Exec(t.Context(), write, "b", second)
		done <- err
	}()
	watch := b.connect(t)
	for waits := false; !waits; {
		if err := watch.QueryRow(t.Context(), "select cardinality(pg_blocking_pids($1)) > 0", pid).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "40001") {
		t.Errorf("the second writer got %v", err)
	}
	if err := other.QueryRow(t.Context(), write, "b", second).Scan(&held); err != nil || held != "a" {
		t.Errorf("the second writer's next try: held by %q, %v", held, err)
	}
	if got := b.stored(t)["K-1"]; got != "a: a" {
		t.Errorf("stored is %q", got)
	}
}
