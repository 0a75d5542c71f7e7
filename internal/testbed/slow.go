package testbed

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Slow has the database take longer to store more than 50 chunks at once than the statement timeout
// that it gives to PostgREST's role. Call it before REST.
func Slow(t testing.TB, db *DB) {
	t.Helper()
	const timeout, storing = 4 * time.Second, 5 * time.Second
	run(t, db, fmt.Sprintf(`
		alter role authenticator in database %s set statement_timeout = %d;
		create function tasklens.be_slow() returns trigger language plpgsql as
			'begin if (select count(*) from new_rows) > 50 then perform pg_sleep(%f); end if; return null; end';
		create trigger be_slow after insert on public.chunks referencing new table as new_rows for each statement execute function tasklens.be_slow();
		create trigger be_slow after insert on public.document_chunks referencing new table as new_rows for each statement execute function tasklens.be_slow();`,
		pgx.Identifier{db.Name}.Sanitize(), timeout.Milliseconds(), storing.Seconds()))
}

// TimeOut has inserts of rows that fulfil a condition fail as at a statement timeout. The condition
// is an expression over new, the row.
func TimeOut(t testing.TB, db *DB, table, condition string) {
	t.Helper()
	run(t, db, fmt.Sprintf(`
		create or replace function tasklens.time_out() returns trigger language plpgsql as $$
		begin
			raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
		end $$;
		create trigger time_out before insert on %s for each row when (%s) execute function tasklens.time_out()`, table, condition))
}

func run(t testing.TB, db *DB, statements string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := Connect(t, db.SuperuserURL).Exec(ctx, statements); err != nil {
		t.Fatalf("slow down the database: %v", err)
	}
}
