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
		"widened": {fault: "grant update on public.tickets to authenticated; grant select on public.tickets to anon with grant option",
			want: finding{"error", "grants on table public.tickets", "anon should not have SELECT with grant option, authenticated should not have UPDATE", "select tasklens.set_grants();"}, mends: true},
		"narrowed": {fault: "revoke update (name) on public.tickets from authenticated",
			want: finding{"error", "grants on table public.tickets", "authenticated lacks UPDATE (name)", "select tasklens.set_grants();"}, mends: true},
		"function open to all": {fault: "grant execute on function public.copy_changes to PUBLIC",
			want: finding{"error", "grants on function public.copy_changes(integer)", "PUBLIC should not have EXECUTE", "select tasklens.set_grants();"}, mends: true},
		"schema closed": {fault: "revoke usage on schema tasklens from service_role",
			want: finding{"error", "grants on schema tasklens", "service_role lacks USAGE", "select tasklens.set_grants();"}, mends: true},
		"column dropped": {fault: "alter table public.tickets drop column due_date cascade", others: true,
			want: finding{"error", "column public.tickets.due_date", "missing", "supabase/migrations"}},
		"other arguments": {fault: "alter function public.rate_document(uuid, boolean) rename to old; create function public.rate_document(document uuid) returns void language sql as ''",
			want: finding{"error", "function public.rate_document(uuid, boolean)", "missing", "supabase/migrations"}},
		"no row-level security": {fault: "alter table public.tickets disable row level security",
			want: finding{"error", "table public.tickets", "row-level security is off", "enable row level security"}, mends: true},
		"forced row-level security": {fault: "alter table public.chunks force row level security",
			want: finding{"error", "table public.chunks", "forced on its owner", "no force row level security"}, mends: true},
		"policy dropped": {fault: "drop policy select_tickets on public.tickets",
			want: finding{"error", "policy select_tickets on public.tickets", "missing", "supabase/migrations"}},
		"table dropped": {fault: "drop table public.ticket_links cascade", others: true,
			want: finding{"error", "table public.ticket_links", "missing", "supabase/migrations"}},
		"index dropped": {fault: "drop index public.tickets_status_id_idx",
			want: finding{"error", "index tickets_status_id_idx on public.tickets", "missing", "CREATE INDEX tickets_status_id_idx"}, mends: true},
		"index invalid": {fault: "update pg_catalog.pg_index set indisvalid = false where indexrelid = 'public.chunks_embedding_idx'::regclass",
			want: finding{"error", "index chunks_embedding_idx on public.chunks", "invalid", "reindex index concurrently public.chunks_embedding_idx"}},
		"index larger than memory": {fault: "update pg_catalog.pg_class set relpages = 10000000 where oid = 'public.chunks_embedding_idx'::regclass",
			want: finding{"warning", "index chunks_embedding_idx", "more than shared_buffers", "docs/scale.md"}},
		"old vector": {fault: "update pg_catalog.pg_extension set extversion = '0.7.4' where extname = 'vector'",
			want: finding{"error", "extension vector", "version 0.7.4 is older than 0.8", "alter extension vector update"}},
		"faulty vector": {fault: "update pg_catalog.pg_extension set extversion = '0.8.3' where extname = 'vector'",
			want: finding{"warning", "extension vector", "or fail (mended in 0.8.4)", "reindex index concurrently public.chunks_embedding_idx;"}},
		"no unaccent": {fault: "drop extension unaccent cascade", others: true,
			want: finding{"error", "extension unaccent", "missing", "create extension unaccent"}},
		"users bypass": {fault: "alter role authenticated bypassrls",
			want: finding{"error", "role authenticated", "every request sees every row", "nobypassrls"}, mends: true},
		"service restricted": {fault: "alter role service_role nobypassrls",
			want: finding{"error", "role service_role", "sees nothing", "bypassrls"}, mends: true},
		"no time limit": {fault: "set local request.method = 'POST'; set local statement_timeout = 0",
			want: finding{"warning", "setting statement_timeout", "no time limit", "alter role authenticator"}},
		"not embedded": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps')",
			want: finding{"warning", "chunks", "1 sources have a text and no chunk", "while a worker runs"}},
		"not queued": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); delete from tasklens.embedding_jobs",
			want: finding{"warning", "chunks", "1 sources have a text and no chunk", "tasklens backfill"}},
		"too long": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); update tasklens.sources set truncated = true", others: true,
			want: finding{"ok", "texts", "1 sources are too long", ""}},
		"waiting": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); update tasklens.embedding_jobs set requested_at = now() - interval '1 hour'", others: true,
			want: finding{"warning", "queue", "has waited 60 minutes", "worker"}},
		"dead": {fault: "insert into public.projects (key, name) values ('AA', 'Pumps'); update tasklens.embedding_jobs set dead_at = now(), last_error = 'no'", others: true,
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
	err = tx.QueryRow(t.Context(), `select array(select kind || ' ' || part from tasklens.present_parts() except select kind || ' ' || part from tasklens.installed_parts)`).
		Scan(&unrecorded)
	if err != nil || len(unrecorded) > 0 {
		t.Errorf("not recorded, so their loss would not be found: %v %v", unrecorded, err)
	}

	// What was removed on purpose is no finding any more.
	if _, err := tx.Exec(t.Context(), "drop index public.tickets_status_id_idx; delete from tasklens.installed_parts where part like 'tickets_status_id_idx on %'"); err != nil {
		t.Fatal(err)
	}
	fine(t, "removed", check(t.Context(), t, tx))
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
	want := []string{"chunks", "columns", "default privileges", "extensions", "functions", "grants", "indexes", "policies", "queue", "roles", "schemas", "sequences", "tables", "triggers", "views"}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Errorf("%s: checked is other than wanted: %s", when, diff)
	}
}

func TestCheckVector(t *testing.T) {
	t.Parallel()
	owner := testbed.Connect(t, testbed.Database(t).SuperuserURL)
	for version, want := range map[string]string{
		"0.7.4": "error", "0.8": "warning", "0.8.0": "warning", "0.8.3": "warning",
		"0.8.4": "ok", "0.8.7": "ok", "0.8.10": "ok", "0.10": "ok", "1.0.0": "ok", "0.9.0-dev": "ok",
	} {
		var severity, remedy string
		_, err := owner.Exec(t.Context(), "update pg_catalog.pg_extension set extversion = $1 where extname = 'vector'", version)
		if err == nil {
			err = owner.QueryRow(t.Context(), `select severity, coalesce(remedy, '') from public.check_installation() where subject in ('extension vector', 'extensions')`).
				Scan(&severity, &remedy)
		}
		if err != nil || severity != want {
			t.Errorf("%s: %s, want %s: %v", version, severity, want, err)
		}
		if want != "ok" && !strings.HasSuffix(remedy, ": alter extension vector update; reindex index concurrently public.chunks_embedding_2_idx;"+
			" reindex index concurrently public.chunks_embedding_idx; reindex index concurrently public.embeddings_chunk_embedding_idx;"+
			" reindex index concurrently public.embeddings_document_embedding_idx;") {
			t.Errorf("%s: %s", version, remedy)
		}
	}
}
