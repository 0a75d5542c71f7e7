package main

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

func TestCheckReportsWhatIsMissing(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	db, settings := startStackOver(t, database)
	check := func(want int, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), os.Args[0], append([]string{"check"}, args...)...)
		command.Env = environment(settings)
		out, err := command.Output()
		status := 0
		if err != nil {
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatal(err)
			}
			status = exit.ExitCode()
			if want == 1 && !strings.Contains(string(exit.Stderr), "errors found: 1") {
				t.Errorf("standard error lacks the error count: %s", exit.Stderr)
			}
		}
		if status != want {
			t.Errorf("exit status %d, want %d: %s", status, want, out)
		}
		return string(out)
	}
	contains := func(out string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("%q is not in:\n%s", part, out)
			}
		}
	}
	if _, err := testbed.Connect(t, database.SuperuserURL).Exec(t.Context(), "update pg_catalog.pg_extension set extversion = '0.8.4' where extname = 'vector'"); err != nil {
		t.Fatal(err) // the installed one may be one to warn of
	}
	contains(check(0), "ok       migrations: all ", "ok       triggers: all ", "Errors: 0. Warnings: 0.")
	// PostgREST knows of a changed function only a moment after it was told to look.
	reloaded := func(change string, want int, parts ...string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), change+"; notify pgrst, 'reload schema'"); err != nil {
			t.Fatal(err)
		}
		until(t, change+": the check never prints "+parts[0], func() bool { return strings.Contains(check(want), parts[0]) })
		contains(check(want), parts...)
	}
	reloaded("alter function public.probe_statement_timeout reset statement_timeout", 0,
		"warning  PostgREST: it does not apply the statement timeouts of functions", "Warnings: 1.")
	reloaded("alter function public.probe_statement_timeout set statement_timeout = '100ms'", 0, "Errors: 0. Warnings: 0.")
	check(2, "everything")
	check(2, "--yaml")

	if _, err := db.Exec(t.Context(), "drop trigger follow_insert on public.tickets"); err != nil {
		t.Fatal(err)
	}
	contains(check(1), "error    trigger follow_insert on public.tickets: it is missing\n         → CREATE TRIGGER follow_insert",
		"then index what was written meanwhile", "Errors: 1. Warnings: 0.")
	contains(check(1, "--json"), `{"findings":[{"severity":"error","subject":"trigger follow_insert on public.tickets","finding":"it is missing","remedy":"CREATE`,
		`{"severity":"ok","subject":"migrations","finding":"all `)
	if _, err := db.Exec(t.Context(), `create trigger follow_insert after insert on public.tickets referencing new table as new_rows
		for each statement execute function tasklens.follow_tickets();
		update tasklens.migrations set version = '20990101000000' where version = '20261127001030'`); err != nil {
		t.Fatal(err)
	}
	contains(check(1), "error    migration 20261127001030_import_links.sql: it is not applied", "warning  migration 20990101000000: this program does not know it",
		"Errors: 1. Warnings: 1.")
	if _, err := db.Exec(t.Context(), "update tasklens.migrations set version = '20200101000000' where version = '20990101000000'"); err != nil {
		t.Fatal(err)
	}
	contains(check(1), "error    migrations: the database was made before tasklens 0.1.0 and cannot be upgraded", "Errors: 1.")
	reloaded(`update tasklens.migrations set version = '20261127001030' where version = '20200101000000';
		drop function public.check_installation(text)`, 1, "error    check_installation: the database has no such function", "ok       migrations: all ")
}

// Where the service may not call what the check needs, it says so, and what helps.
func TestCheckNamesRightsThatItLacks(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	db, settings := startStackOver(t, database)
	url, key := settings["SUPABASE_REST_URL"], settings["SUPABASE_SECRET_KEY"]
	session := postgrest.New(url, key, testbed.Schema()).AsService()
	schema := testbed.Schema()
	for _, missing := range []string{"execute on function " + schema + ".list_migrations", "execute on function " + schema + ".check_installation",
		"execute on function " + schema + ".probe_statement_timeout", "usage on schema " + schema + " from PUBLIC; revoke usage on schema " + schema} {
		if _, err := db.Exec(t.Context(), "revoke "+missing+" from service_role"); err != nil {
			t.Fatal(err)
		}
		findings, err := inspect(t.Context(), session, "")
		if err != nil || !slices.ContainsFunc(findings, func(f finding) bool {
			return f.Severity == "error" && f.Subject == "grants" && strings.Contains(f.Finding, "permission denied for ") && strings.HasSuffix(f.Remedy, "select tasklens.set_grants();")
		}) {
			t.Errorf("%s: %v (%v)", missing, findings, err)
		}
		if _, err := db.Exec(t.Context(), "select tasklens.set_grants()"); err != nil {
			t.Fatal(err)
		}
		if findings, err := inspect(t.Context(), session, ""); err != nil || count(findings, "error") > 0 {
			t.Errorf("%s, granted again: %v (%v)", missing, findings, err)
		}
	}
}

// Functions that changed since PostgREST read the schema are a finding, whichever of the check's
// own they are.
func TestCheckFindsAnOlderSchemaCache(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"list_migrations()", "check_installation(text)", "probe_statement_timeout()"} {
		database := testbed.Database(t)
		secret := []byte(strings.Repeat("s", 32))
		rest, err := gateway.New(t.Context(), gateway.Config{DatabaseURL: database.AuthenticatorURL, JWTSecret: secret, Schemas: []string{"public"}, ExtraSearchPath: []string{"extensions"}, CachesSchema: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rest.Close)
		server := httptest.NewServer(rest)
		t.Cleanup(server.Close)
		session := postgrest.New(server.URL, testbed.Token(t, secret, "service_role"), "public").AsService()
		for _, isOlder := range []bool{false, true} {
			findings, err := inspect(t.Context(), session, "")
			if err != nil || slices.Contains(findings, stale) != isOlder {
				t.Errorf("%s, gone: %t: %v (%v)", function, isOlder, findings, err)
			}
			if _, err := testbed.Connect(t, database.OwnerURL).Exec(t.Context(), "drop function if exists public."+function); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Where the default issuer need not be that of the tokens, the check says which setting is missing.
func TestCheckNamesAMissingIssuer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		auth, url, issuer string
		want              bool
	}{
		{"on", "http://localhost:8000", "", true}, {"strict", "https://api.example.com/", "", true}, {"on", "https://abc.supabase.co.example.com", "", true},
		{"off", "http://localhost:8000", "", false}, {"on", "http://localhost:8000", "none", false}, {"on", "http://localhost:8000", "http://localhost:8000", false},
		{"on", "https://abcdefghijklmnopqrst.supabase.co", "", false}, {"strict", "https://abcdefghijklmnopqrst.supabase.co/", "", false},
	} {
		findings := inspectIssuer(Config{Auth: c.auth, SupabaseURL: c.url, JWTIssuer: c.issuer})
		if found := len(findings) == 1 && findings[0].Subject == "SUPABASE_JWT_ISSUER" && strings.Contains(findings[0].Finding, strings.TrimRight(c.url, "/")+"/auth/v1"); found != c.want || !c.want && len(findings) > 0 {
			t.Errorf("%+v: %+v", c, findings)
		}
	}
}
