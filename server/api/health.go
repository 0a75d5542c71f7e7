package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/supabase"
)

type aliveResponse struct {
	Status string `json:"status" enum:"ok"`
}

// alive reports that the process is running.
func (a *API) alive(c *fiber.Ctx, _ *caller) error { return c.JSON(aliveResponse{"ok"}) }

type readyResponse struct {
	_ struct{} `schema:"Ready"`

	Status        string `json:"status" enum:"ready"`
	RefusedRows   int    `json:"refused_rows,omitempty" min:"1" example:"2" doc:"Rows of your own tables that cannot be copied as they are; absent if there are none."`
	WaitingCopies int    `json:"waiting_copies,omitempty" min:"1" example:"200" doc:"Changes of your own tables that wait to be copied; absent if there are none."`
}

type notReadyResponse struct {
	_ struct{} `schema:"NotReady"`

	Missing []string `json:"missing" min:"1" example:"[\"migration 20261127000740_lists.sql\", \"model: chat\"]"`
	Status  string   `json:"status" enum:"not ready"`
}

// ready reports whether requests can be answered, and otherwise what is missing. The endpoint is
// public and not rate-limited, so concurrent requests share one check of the database.
func (a *API) ready(c *fiber.Ctx, _ *caller) error {
	found, _, _ := a.readying.Do("", func() (any, error) { return a.missing(c.UserContext()), nil })
	if missing, _ := found.([]string); len(missing) > 0 {
		return c.Status(http.StatusServiceUnavailable).JSON(notReadyResponse{Status: "not ready", Missing: missing})
	}
	refused, waiting := a.Observer.Copies()
	return c.JSON(readyResponse{Status: "ready", RefusedRows: refused, WaitingCopies: waiting})
}

// missing lists everything that the service lacks. The names are fixed and contain no addresses,
// because the endpoint is public.
func (a *API) missing(ctx context.Context) []string {
	missing := a.missingInDatabase(ctx)
	for _, operation := range a.OpenCircuits() {
		missing = append(missing, "model: "+operation)
	}
	return append(missing, a.missingKeys(ctx)...)
}

// missingInDatabase reports the database as missing, or migrations by file name.
func (a *API) missingInDatabase(ctx context.Context) (missing []string) {
	lacking, unknown, err := CompareSchema(ctx, a.Database.AsService(), a.migrations)
	if err != nil {
		a.Log.WarnContext(ctx, "not ready", "error", err)
		if errors.Is(err, supabase.ErrUnreleased) {
			return []string{"database made before 0.1.0"}
		}
		var answer *postgrest.Error
		if errors.As(err, &answer) && answer.Code == postgrest.UnknownSchema {
			return []string{"schema of SUPABASE_SCHEMA among the exposed ones"}
		}
		if postgrest.IsStale(err) {
			return []string{"schema cache of PostgREST"}
		}
		if fault.CodeOf(err) == fault.Forbidden {
			return []string{"grants"}
		}
		return []string{"database"}
	}
	for _, m := range lacking {
		missing = append(missing, "migration "+m.File)
	}
	if len(missing) > 0 {
		a.Log.WarnContext(ctx, "not ready: the database lacks migrations; apply them in this order (npx supabase db push, or psql -1 -f), or set SUPABASE_SCHEMA to the schema they are in", "missing", missing)
	}
	if len(unknown) > 0 {
		a.newer.Do(func() {
			a.Log.WarnContext(ctx, "the database has migrations that this program does not know: deploy the newer version of the program", "migrations", unknown)
		})
	}
	return missing
}

// CompareSchema returns which of the program's migrations the database lacks, and which versions it
// has that the program does not know. The error is supabase.ErrUnreleased for a database that was
// made before the first release.
func CompareSchema(ctx context.Context, db *postgrest.Session, known []supabase.Migration) (missing []supabase.Migration, unknown []string, err error) {
	var applied []string
	err = db.Call(ctx, "list_migrations", nil, &applied)
	// The first migration creates this function. Without it there are none.
	var answer *postgrest.Error
	if isEmpty := errors.As(err, &answer) && answer.Code == postgrest.UnknownFunction; err != nil && !isEmpty {
		return nil, nil, fmt.Errorf("list the migrations of the database: %w", err)
	}
	if err := supabase.CheckReleased(known, applied); err != nil {
		return nil, nil, err
	}
	missing, unknown = supabase.Compare(known, applied)
	return missing, unknown, nil
}
