package supabase_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// Writers of one project do not wait for one another because of its version, which moves when they
// commit, not before.
func TestTheVersionMovesWithEachCommit(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	reader, first, second := testbed.Connect(t, db.OwnerURL), testbed.Connect(t, db.OwnerURL), testbed.Connect(t, db.OwnerURL)
	do := func(connection *pgx.Conn, sql string) {
		t.Helper()
		if _, err := connection.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	seen := map[string]bool{}
	look := func(when string, moved bool) {
		t.Helper()
		var version string
		if err := reader.QueryRow(t.Context(), `select version from data_version(1)`).Scan(&version); err != nil {
			t.Fatal(err)
		}
		if seen[version] == moved {
			t.Errorf("%s: the version moved: %t, want %t", when, !moved, moved)
		}
		seen[version] = true
	}
	do(reader, `insert into projects (project_id, key, name) values (1, 'P', 'Pumps')`)
	do(reader, `insert into status (status_id, name) values (1, 'Done')`)
	do(reader, `insert into tickets (ticket_id, project_id, status_id, name) values (1, 1, 1, 'Pump'), (2, 1, 1, 'Valve')`)
	look("in the beginning", true)
	// So many have gathered that the next writer adds them up, and holds what it added to until it
	// commits.
	do(reader, `insert into tasklens.data_version_changes (project_id, transaction_id) select 1, i::text::xid8 from generate_series(1, 300) i`)
	look("when some have gathered", true)
	do(second, `set lock_timeout = '5s'`)
	do(first, `begin`)
	do(first, `update tickets set name = 'Pumps' where ticket_id = 1`)
	look("before the first writer commits", false)
	do(second, `begin`)
	do(second, `update tickets set name = 'Valves' where ticket_id = 2`)
	look("before the second writer commits", false)
	do(second, `commit`)
	look("when the second writer has committed", true)
	do(first, `commit`)
	look("when the first writer has committed", true)
	do(first, `begin; update tickets set name = 'Hoses' where ticket_id = 1; rollback`)
	look("after an edit that was taken back", false)
	do(first, `begin; savepoint s; update tickets set name = 'Hoses' where ticket_id = 1; rollback to s; update tickets set name = 'Hose' where ticket_id = 1; commit`)
	look("after an edit of which a part was taken back", true)
	// Whose snapshot is older than the adding up does not fail because of it.
	do(reader, `insert into tasklens.data_version_changes (project_id, transaction_id) select 1, i::text::xid8 from generate_series(1001, 1300) i`)
	look("when some have gathered again", true)
	do(first, `begin isolation level repeatable read; select data_version()`)
	do(second, `update tickets set name = 'Valve' where ticket_id = 2`)
	do(first, `update tickets set name = 'Pump' where ticket_id = 1; commit`)
	look("after an edit by an older snapshot", true)
}
