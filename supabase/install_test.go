package supabase_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
)

// What apply and the other tools make of each other's databases is in scripts/check-migrations.
func TestApplyRefusesOtherDatabases(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	owner := testbed.Connect(t, database.OwnerURL)
	const fine = "no migration is missing"
	for _, c := range []struct{ change, want string }{
		{"", fine},
		{"insert into supabase_migrations.schema_migrations (version) values ('20990101000000'), ('20200101000000')", fine}, // somebody else's
		{"drop schema supabase_migrations cascade", fine},                                                                   // as after psql -f
		{"insert into tasklens.migrations (version) values ('20990101000000')", "migrations of a newer tasklens: 20990101000000"},
		{"update tasklens.migrations set version = '20200101000000' where version = '20990101000000'", "made before tasklens 0.1.0 and cannot be upgraded"},
	} {
		execute(t, owner, c.change)
		if out, err := apply(t, database.OwnerURL); !strings.Contains(out, c.want) || strings.Contains(out, "applying") || (err != nil) != (c.want != fine) {
			t.Errorf("%s: %v, %s", c.change, err, out)
		}
	}
	if out, err := apply(t, database.OwnerURL, "--schema", "search"); err == nil || !strings.Contains(out, "installed in the schema "+testbed.Schema()) {
		t.Errorf("a second schema: %v, %s", err, out)
	}
}

// An application has objects of our names, and extensions elsewhere.
const application = `
	create table public.projects (id uuid primary key default gen_random_uuid(), title text);
	create table public.tickets (id uuid primary key, project uuid references public.projects);
	create function public.search_hybrid(words text) returns text language sql as 'select words';
	create type public.project_role as enum ('guest');
	create schema supabase_migrations;
	create table supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text);
	insert into supabase_migrations.schema_migrations values ('20240101000000'), ('20990101000000');
	insert into public.projects (title) values ('Theirs')`

func TestInstallationBesideAnApplication(t *testing.T) {
	t.Parallel()
	database := testbed.Empty(t)
	owner := testbed.Connect(t, database.OwnerURL)
	execute(t, owner, application)
	before := dump(t, database.OwnerURL)

	out, err := apply(t, database.OwnerURL)
	for _, want := range []string{"public.projects exists", "public.tickets exists", "the function search_hybrid(text) exists", "the type public.project_role exists", "nothing has been changed"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: it does not say %q: %s", err, want, out)
		}
	}
	if diff := cmp.Diff(before, dump(t, database.OwnerURL)); diff != "" {
		t.Errorf("a refused installation changed the database: %s", diff)
	}

	if out, err := apply(t, database.OwnerURL, "--schema", "lens"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	execute(t, owner, `
		insert into lens.projects (key, name) values ('TX', 'Checkout');
		insert into lens.status (name) values ('To Do') on conflict do nothing;
		insert into lens.tickets (project_id, status_id, name) select p.project_id, s.status_id, 'Charged twice' from lens.projects p, lens.status s where s.name = 'To Do'`)
	var found, faults string
	if err := owner.QueryRow(t.Context(), `select coalesce((select string_agg(ticket_key, ',') from lens.search_hybrid('charged')), ''),
		coalesce((select string_agg(finding, '; ') from lens.check_installation() where severity = 'error'), '')`).Scan(&found, &faults); err != nil || found != "TX-1" || faults != "" {
		t.Errorf("found %q, faults %q: %v", found, faults, err)
	}

	for _, theirs := range []struct{ what, definition string }{
		{"view public.open", " as select * from lens.tickets"},
		{"policy mine on lens.tickets", " for select to anon using (false)"},
		{"trigger mine on lens.tickets", " before insert on lens.tickets for each row execute function suppress_redundant_updates_trigger()"},
		{"function tasklens.mine()", " returns integer language sql as 'select 1'"},
		{"table tasklens.mine", " (id integer)"},
		{"function public.newest()", " returns setof lens.tickets language sql as 'select * from lens.tickets'"},
		{"column lens.tickets.severity", ""},
		{"constraint mine on table public.watchers", ""},
	} {
		create, drop := "create "+theirs.what+theirs.definition, "drop "+theirs.what
		switch kind, _, _ := strings.Cut(theirs.what, " "); kind {
		case "trigger":
			create = "create trigger mine" + theirs.definition
		case "column":
			create, drop = "alter table lens.tickets add severity text", "alter table lens.tickets drop severity"
		case "constraint":
			create, drop = "create table public.watchers (ticket bigint constraint mine references lens.tickets)", "drop table public.watchers"
		}
		execute(t, owner, create)
		if out, err := remove(t, database.OwnerURL); err == nil || !strings.Contains(out, "something of yours") || !strings.Contains(out, theirs.what) {
			t.Errorf("%s: %v, %s", create, err, out)
		}
		execute(t, owner, drop)
	}
	// A function of our name, and one that uses an extension of the installation unseen, stay.
	execute(t, owner, `create function lens.list_projects(owner uuid) returns text language sql as 'select ''theirs''';
		create function public.alike(a text, b text) returns boolean language sql as 'select extensions.similarity(a, b) > 0.5'`)
	if out, err := remove(t, database.OwnerURL); err != nil || !strings.Contains(out, "removing 1 projects, 1 tickets and 0 documents") || !strings.Contains(out, "the schema lens stays") {
		t.Errorf("%v, %s", err, out)
	}
	var theirs string
	var alike bool
	if err := owner.QueryRow(t.Context(), "select lens.list_projects(null), public.alike('pump', 'pumps')").Scan(&theirs, &alike); err != nil || theirs != "theirs" || !alike {
		t.Errorf("an application's functions: %s, %t, %v", theirs, alike, err)
	}
	execute(t, owner, "drop function lens.list_projects, public.alike; drop schema lens; drop extension pg_trgm; drop extension unaccent")
	if diff := cmp.Diff(before, dump(t, database.OwnerURL)); diff != "" {
		t.Errorf("the removal leaves: %s", diff)
	}
	if out, err := remove(t, database.OwnerURL); err == nil || !strings.Contains(out, "not installed") {
		t.Errorf("a second removal: %v, %s", err, out)
	}
}

// Without the CLI's history it is made, and goes again. Of the extensions it says how they go.
func TestRemovalLeavesNothing(t *testing.T) {
	t.Parallel()
	database := testbed.Empty(t)
	// A time that our tables may not hold.
	execute(t, testbed.Connect(t, database.OwnerURL), "create table public.orders (due timestamptz); insert into public.orders values ('infinity')")
	before := dump(t, database.OwnerURL)
	for _, schema := range []string{"public", "lens"} {
		if out, err := apply(t, database.OwnerURL, "--schema", schema); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		owner := testbed.Connect(t, database.OwnerURL)
		execute(t, owner, `create table public.boards (id bigint primary key);
			create view public.our_projects as select id as project_id from public.boards;
			create view public.our_tickets as select id as ticket_id, id as project_id from public.boards;
			select `+schema+`.attach_tables('{"projects": {"view": "public.our_projects", "tables": {"public.boards": {"id": "project_id"}}},
				"tickets": {"view": "public.our_tickets", "tables": {"public.boards": {"id": "ticket_id"}}}}')`)
		if out, err := remove(t, database.OwnerURL); err == nil || !strings.Contains(out, schema+".detach_tables()") {
			t.Errorf("own tables are attached: %v, %s", err, out)
		}
		execute(t, owner, `select `+schema+`.detach_tables(); drop table public.boards cascade`)
		out, err := remove(t, database.OwnerURL)
		_, remaining, said := strings.Cut(out, "If nothing of yours uses them: ")
		if err != nil || !said {
			t.Fatalf("%v, %s", err, out)
		}
		remaining, _, _ = strings.Cut(remaining, "\n")
		execute(t, owner, remaining)
		if diff := cmp.Diff(before, dump(t, database.OwnerURL)); diff != "" {
			t.Errorf("the removal leaves: %s", diff)
		}
	}
}

func TestExtensionsElsewhereAreNamed(t *testing.T) {
	t.Parallel()
	database := testbed.Empty(t)
	super := testbed.Connect(t, database.SuperuserURL)
	execute(t, super, "alter extension vector set schema public; create extension unaccent schema public; create schema tasklens")
	before := dump(t, database.SuperuserURL)
	out, err := apply(t, database.OwnerURL)
	for _, want := range []string{`"alter extension vector set schema extensions;"`, `"alter extension unaccent set schema extensions;"`, "there is a schema tasklens"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: it does not say %q: %s", err, want, out)
		}
	}
	if diff := cmp.Diff(before, dump(t, database.SuperuserURL)); diff != "" {
		t.Errorf("a refused installation changed the database: %s", diff)
	}
	execute(t, super, "alter extension vector set schema extensions; alter extension unaccent set schema extensions; drop schema tasklens")
	if out, err := apply(t, database.OwnerURL); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	execute(t, super, "alter extension unaccent set schema public")
	var finding, remedy string
	if err := super.QueryRow(t.Context(), `select finding, remedy from check_installation() where severity = 'error'`).Scan(&finding, &remedy); err != nil ||
		!strings.Contains(finding, "in the schema public") || remedy != "alter extension unaccent set schema extensions;" {
		t.Errorf("check: %q, %q, %v", finding, remedy, err)
	}
}

func apply(t *testing.T, url string, options ...string) (string, error) {
	t.Helper()
	return command(t, "./apply", append(options, url)...)
}

func remove(t *testing.T, url string) (string, error) {
	t.Helper()
	return command(t, "psql", "-X", "-v", "ON_ERROR_STOP=1", url, "-f", "remove.sql")
}

// dump is the whole database. pg_dump's \restrict lines are random.
func dump(t *testing.T, url string) string {
	t.Helper()
	out, err := command(t, "pg_dump", url)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(out, "\n")
	kept := lines[:0]
	for _, line := range lines {
		if !strings.HasPrefix(line, `\restrict`) && !strings.HasPrefix(line, `\unrestrict`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func command(t *testing.T, name string, arguments ...string) (string, error) {
	t.Helper()
	run := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `PATH=$PGBIN:$PATH exec "$0" "$@"`, name}, arguments...)...)
	out, err := run.CombinedOutput()
	return string(out), err
}

func execute(t *testing.T, conn interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
