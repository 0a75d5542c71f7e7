package testbed

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Slow delays each insert of a chunk and cancels statements through PostgREST that take longer than
// the timeout. Call it before REST.
func Slow(t testing.TB, db *DB, perChunk, timeout time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := Connect(t, db.SuperuserURL).Exec(ctx, fmt.Sprintf(`
		alter role authenticator in database %s set statement_timeout = %d;
		create function private.be_slow() returns trigger language plpgsql as 'begin perform pg_sleep(%f); return new; end';
		create trigger be_slow before insert on public.chunks for each row execute function private.be_slow();
		create trigger be_slow before insert on public.document_chunks for each row execute function private.be_slow();`,
		pgx.Identifier{db.Name}.Sanitize(), timeout.Milliseconds(), perChunk.Seconds()))
	if err != nil {
		t.Fatalf("slow down the database: %v", err)
	}
}
