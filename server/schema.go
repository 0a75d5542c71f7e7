package main

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/postgrest"
	"tasklens/internal/wait"
	"tasklens/server/api"
	"tasklens/supabase"
)

// schemaPoll is how often a worker looks whether the migrations it waits for are applied.
const schemaPoll = time.Second

// requireSchema fails if the database lacks migrations: what this program writes may not fit it. A
// database with newer migrations will do.
func requireSchema(ctx context.Context, db *postgrest.Session) error {
	known, err := supabase.List(supabase.Migrations())
	if err != nil {
		return err
	}
	missing, _, err := api.CompareSchema(ctx, db, known)
	if err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("the database lacks %d migrations, the first of them %s: apply them before this program runs (npx supabase db push, or psql -1 -f with each, in order), or set SUPABASE_SCHEMA to the schema they are in",
		len(missing), missing[0].File)
}

// awaitSchema waits until the database has all migrations, and logs each new reason to wait. It
// fails only if the context ends.
func (p *process) awaitSchema(ctx context.Context) error {
	for told := ""; ; {
		err := requireSchema(ctx, p.database.AsService())
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if err.Error() != told {
			told = err.Error()
			p.log.WarnContext(ctx, "the worker waits", "error", err)
		}
		if err := wait.For(ctx, schemaPoll); err != nil {
			return err
		}
	}
}
