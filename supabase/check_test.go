package supabase_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

type finding struct{ Severity, Subject, Finding, Remedy string }

func check(ctx context.Context, t *testing.T, db pgx.Tx) []finding {
	t.Helper()
	rows, _ := db.Query(ctx, "select severity, subject, finding, coalesce(remedy, '') from public.check_installation('m')")
	findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[finding])
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// Faults are made one at a time, and must be found alone; undone, nothing is found. Where the
// remedy is a statement it mends.
func TestCheckInstallation(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.SuperuserURL)
	// The installed pgvector may itself be one to warn of.
	if _, err := owner.Exec(t.Context(), "update pg_catalog.pg_extension set extversion = '0.8.4' where extname = 'vector'"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fault         string
		want          finding // Finding and Remedy: a part of them
		mends, others bool    // the remedy mends it; there are other findings
	}{
		"trigger dropped": {fault: "drop trigger follow_insert on public.tickets",
			want: finding{"error", "trigger follow_insert on public.tickets", "missing", "CREATE TRIGGER follow_insert AFTER INSERT"}, mends: true},
		"trigger disabled": {fault: "alter table public.comments disable trigger touch_updated_at",
			want: finding{"error", "trigger touch_updated_at on public.comments", "disabled", "enable trigger touch_updated_at"}, mends: true},
		"another trigger": {fault: "drop trigger fill_category on public.status; create trigger fill_category before insert on public.status for each row execute function private.fill_status_category()",
			want: finding{"warning", "trigger fill_category on public.status", "differs from the migrations", "BEFORE INSERT OR UPDATE"}},
		"no row-level security": {fault: "alter table public.tickets disable row level security",
			want: finding{"error", "table public.tickets", "row-level security is off", "enable row level security"}, mends: true},
		"forced row-level security": {fault: "alter table public.chunks force row level security",
			want: finding{"error", "table public.chunks", "forced on its owner", "no force row level security"}, mends: true},
		"policy dropped": {fault: "drop policy read_tickets on public.tickets",
			want: finding{"error", "policy read_tickets on public.tickets", "missing", "supabase/migrations"}},
		"policy opened": {fault: "alter policy read_tickets on public.tickets using (true)",
			want: finding{"warning", "policy read_tickets on public.tickets", "using true", "visible_projects"}},
		"policy added": {fault: "create policy everybody on public.tickets for select to anon using (true)",
			want: finding{"warning", "policy everybody on public.tickets", "select to anon using true", "Drop it"}},
		"table dropped": {fault: "drop table public.ticket_links cascade", others: true,
			want: finding{"error", "table public.ticket_links", "missing", "supabase/migrations"}},
		"table granted": {fault: "grant select on public.tickets to anon",
			want: finding{"error", "table public.tickets", "anon: select", "record_installation"}},
		"table revoked": {fault: "revoke all on public.ticket_links from service_role",
			want: finding{"error", "table public.ticket_links", "instead of", "record_installation"}},
		"less for users": {fault: "revoke delete on public.tickets from authenticated",
			want: finding{"warning", "table public.tickets", "instead of", "record_installation"}},
		"function dropped": {fault: "drop function public.list_statuses",
			want: finding{"error", "function public.list_statuses(bigint,integer)", "missing", "supabase/migrations"}},
		"function granted": {fault: "grant execute on function public.list_migrations() to public",
			want: finding{"error", "function public.list_migrations()", "public: execute", "record_installation"}},
		"index dropped": {fault: "drop index public.tickets_status_id_idx",
			want: finding{"error", "index tickets_status_id_idx on public.tickets", "missing", "CREATE INDEX tickets_status_id_idx"}, mends: true},
		"index invalid": {fault: "update pg_catalog.pg_index set indisvalid = false where indexrelid = 'public.chunks_embedding_idx'::regclass",
			want: finding{"error", "index chunks_embedding_idx on public.chunks", "invalid", "reindex index concurrently public.chunks_embedding_idx"}},
		"old vector": {fault: "update pg_catalog.pg_extension set extversion = '0.7.4' where extname = 'vector'",
			want: finding{"error", "extension vector", "version 0.7.4 is older than 0.8", "alter extension vector update"}},
		"faulty vector": {fault: "update pg_catalog.pg_extension set extversion = '0.8.3' where extname = 'vector'",
			want: finding{"warning", "extension vector", "vacuum of an HNSW index can fail (mended in 0.8.4)", "reindex index concurrently public.chunks_embedding_idx;"}},
		"no unaccent": {fault: "drop extension unaccent cascade", others: true,
			want: finding{"error", "extension unaccent", "missing", "create extension unaccent"}},
		"users bypass": {fault: "alter role authenticated bypassrls",
			want: finding{"error", "role authenticated", "every request sees every row", "nobypassrls"}, mends: true},
		"service restricted": {fault: "alter role service_role nobypassrls",
			want: finding{"error", "role service_role", "sees nothing", "bypassrls"}, mends: true},
		"no time limit": {fault: "set local request.method = 'POST'; set local statement_timeout = 0",
			want: finding{"warning", "setting statement_timeout", "no time limit", "alter role authenticator"}},
		"no autovacuum": {fault: "alter table public.chunks set (autovacuum_enabled = false)",
			want: finding{"warning", "table public.chunks", "autovacuum is off", "reset (autovacuum_enabled)"}},
		"not embedded": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps')",
			want: finding{"warning", "chunks", "1 sources have a text and no chunk", "while a worker runs"}},
		"not queued": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); delete from private.embedding_jobs",
			want: finding{"warning", "chunks", "1 sources have a text and no chunk", "tasklens backfill"}},
		"waiting": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); update private.embedding_jobs set requested_at = now() - interval '1 hour'", others: true,
			want: finding{"warning", "queue", "has waited 60 minutes", "worker"}},
		"dead": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); update private.embedding_jobs set dead_at = now(), last_error = 'no'", others: true,
			want: finding{"error", "queue", "1 sources are dead", "replay_embedding_jobs"}},
	} {
		tx, err := owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), c.fault); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found := 0
		remedy := ""
		for _, f := range check(t.Context(), t, tx) {
			switch {
			case f.Severity == c.want.Severity && f.Subject == c.want.Subject && strings.Contains(f.Finding, c.want.Finding) && strings.Contains(f.Remedy, c.want.Remedy):
				found++
				remedy = f.Remedy
			case f.Severity != "ok" && !c.others:
				t.Errorf("%s: found as well: %v", name, f)
			}
		}
		if found != 1 {
			t.Errorf("%s: found %d times: %v", name, found, check(t.Context(), t, tx))
		}
		if c.mends && found == 1 {
			if _, err := tx.Exec(t.Context(), remedy); err != nil {
				t.Errorf("%s: %s: %v", name, remedy, err)
			} else {
				fine(t, name+", mended", check(t.Context(), t, tx))
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	fine(t, "at the end", check(t.Context(), t, tx))
	var unrecorded []string
	err = tx.QueryRow(t.Context(), `select array(select kind || ' ' || part from private.present_parts() except select kind || ' ' || part from private.installed_parts)`).
		Scan(&unrecorded)
	if err != nil || len(unrecorded) > 0 {
		t.Errorf("made after record_installation(), so its loss would not be found: %v %v", unrecorded, err)
	}

	// A change that is meant is no finding any more.
	if _, err := tx.Exec(t.Context(), "revoke delete on public.tickets from authenticated; select private.record_installation()"); err != nil {
		t.Fatal(err)
	}
	fine(t, "recorded", check(t.Context(), t, tx))
}

func fine(t *testing.T, when string, findings []finding) {
	t.Helper()
	var subjects []string
	for _, f := range findings {
		if f.Severity != "ok" {
			t.Errorf("%s: %v", when, f)
		}
		subjects = append(subjects, f.Subject)
	}
	want := []string{"chunks", "extensions", "functions", "indexes", "policies", "queue", "roles", "settings", "statistics", "tables", "triggers"}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Errorf("%s: checked is other than wanted: %s", when, diff)
	}
}

// Of committed rows: others count nowhere yet.
func TestCheckStatistics(t *testing.T) {
	t.Parallel()
	owner := testbed.Connect(t, testbed.Database(t).SuperuserURL)
	ask := func(sql string) (findings string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		err := owner.QueryRow(t.Context(), `select string_agg(concat_ws(' ', severity, subject, finding, remedy), e'\n')
			from private.check_statistics() where subject in ('table public.status', 'statistics')`).Scan(&findings)
		if err != nil {
			t.Fatal(err)
		}
		return findings
	}
	for _, c := range []struct{ sql, want string }{
		// Autovacuum must not come in between.
		{"alter table public.status set (autovacuum_analyze_threshold = 1000000000)", "ok"},
		{"insert into public.status (name) select 'State ' || n || repeat('.', 80) from generate_series(1, 20000) n",
			"warning table public.status it has 2"},
		{"analyze public.status", "ok statistics they are recent"},
		{"update public.status set name = 'Another ' || name", "warning table public.status 20000 rows changed"},
		{"analyze public.status", "ok statistics they are recent"},
	} {
		// A change of statistics is written a moment after the transaction; this writes it now.
		if got := ask(c.sql + "; select pg_stat_force_next_flush()"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", c.sql, got)
		}
	}
}

func TestCheckVector(t *testing.T) {
	t.Parallel()
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	overflow, corruption, failure := "parallel index build can overflow a buffer (mended in 0.8.2)", "vacuum can corrupt an HNSW index (mended in 0.8.3)", "can fail (mended in 0.8.4)"
	for version, want := range map[string][]string{
		"0.7.4": {}, // an error of its own
		"0.8":   {overflow, corruption, failure}, "0.8.0": {overflow, corruption, failure}, "0.8.1": {overflow, corruption, failure},
		"0.8.2": {corruption, failure}, "0.8.3": {failure},
		"0.8.4": {}, "0.8.7": {}, "0.8.10": {}, "0.10": {}, "1.0.0": {}, "0.9.0-dev": {},
	} {
		rows, _ := owner.Query(t.Context(), "select severity, subject, finding, remedy from private.check_vector($1, array['public.a_idx', 'public.\"B\"'])", version)
		findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[finding])
		if err != nil || len(findings) != min(len(want), 1) {
			t.Fatalf("%s: %v %v", version, err, findings)
		}
		for _, f := range findings {
			if f.Severity != "warning" || f.Subject != "extension vector" || strings.Count(f.Finding, "mended") != len(want) ||
				!strings.HasSuffix(f.Remedy, `alter extension vector update; reindex index concurrently public."B"; reindex index concurrently public.a_idx;`) {
				t.Errorf("%s: %v", version, f)
			}
			for _, fault := range want {
				if !strings.Contains(f.Finding, fault) {
					t.Errorf("%s: %s is not in %v", version, fault, f)
				}
			}
		}
	}
}

// Settings that only a restart changes, and an index of 64 MB and more, are given to the function
// as numbers.
func TestCheckMemory(t *testing.T) {
	t.Parallel()
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	for name, c := range map[string]struct {
		index, shared, maintenance int64
		prewarms                   bool
		want                       []string
	}{
		"suits":       {900 << 20, 1 << 30, 1 << 30, true, []string{"settings"}},
		"small index": {1 << 20, 16384, 16384, false, []string{"settings"}},
		"no room":     {900 << 20, 128 << 20, 1 << 30, true, []string{"setting shared_buffers"}},
		"slow builds": {900 << 20, 1 << 30, 64 << 20, true, []string{"setting maintenance_work_mem"}},
		"cold starts": {900 << 20, 1 << 30, 1 << 30, false, []string{"extension pg_prewarm"}},
	} {
		rows, _ := owner.Query(t.Context(), "select subject from private.check_memory($1, $2, $3, $4)", c.index, c.shared, c.maintenance, c.prewarms)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}
