package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/internal/rpc"
	"tasklens/supabase"
)

type aliveResponse struct {
	Status string `json:"status" enum:"ok"`
}

// alive reports that the process is running.
func (a *API) alive(c *fiber.Ctx, _ *caller) error { return c.JSON(aliveResponse{"ok"}) }

type readyResponse struct {
	_ struct{} `schema:"Ready"`

	Status        string   `json:"status" enum:"ready"`
	OwnTables     []string `json:"own_tables,omitempty" min:"1" example:"[\"the view of tickets cannot be read\"]" doc:"Which views of your own tables cannot be read, so that their changes wait; absent if all can. ~tasklens check~ says why."`
	RefusedRows   int      `json:"refused_rows,omitempty" min:"1" example:"2" doc:"Rows of your own tables that cannot be copied as they are; absent if there are none."`
	BlockedBy     string   `json:"blocked_by,omitempty" enum:"model_quota,model_key" doc:"As in ~/api/embeddings/status~."`
	WaitingCopies int      `json:"waiting_copies,omitempty" min:"1" example:"200" doc:"Changes of your own tables that wait to be copied; absent if there are none."`
}

type notReadyResponse struct {
	_ struct{} `schema:"NotReady"`

	Missing []string `json:"missing" min:"1" example:"[\"migration 20261127000740_lists.sql\", \"model: chat\"]"`
	Status  string   `json:"status" enum:"not ready"`
}

// readiness is what one look at the service finds.
type readiness struct{ missing, ownTables []string }

// ready reports whether requests can be answered, and otherwise what is missing. The endpoint is
// public and not rate-limited, so concurrent requests share one check of the database.
func (a *API) ready(c *fiber.Ctx, _ *caller) error {
	looked, _, _ := a.readying.Do("", func() (any, error) { return a.look(c.UserContext()), nil })
	found := looked.(readiness)
	if len(found.missing) > 0 {
		return c.Status(http.StatusServiceUnavailable).JSON(notReadyResponse{Status: "not ready", Missing: found.missing})
	}
	now := a.Observer.Indexing()
	return c.JSON(readyResponse{Status: "ready", OwnTables: found.ownTables, RefusedRows: now.RefusedRows, BlockedBy: now.BlockedBy, WaitingCopies: now.WaitingCopies})
}

// look finds everything that the service lacks. The names are fixed and contain no addresses,
// because the endpoint is public.
func (a *API) look(ctx context.Context) (found readiness) {
	db := a.Database.AsService()
	lacking, unknown, err := CompareSchema(ctx, db, a.migrations)
	var views []struct{ Finding string }
	if err == nil && len(lacking) == 0 {
		err = db.Call(ctx, "unreadable_views", nil, &views)
	}
	if err != nil {
		a.Log.WarnContext(ctx, "not ready", "error", err)
		found.missing = append(found.missing, missingFor(err))
	}
	for _, m := range lacking {
		found.missing = append(found.missing, "migration "+m.File)
	}
	if len(lacking) > 0 {
		a.Log.WarnContext(ctx, "not ready: the database lacks migrations; apply them in this order (npx supabase db push, or psql -1 -f), or set SUPABASE_SCHEMA to the schema they are in", "missing", found.missing)
	}
	if len(unknown) > 0 {
		a.newer.Do(func() {
			a.Log.WarnContext(ctx, "the database has migrations that this program does not know: deploy the newer version of the program", "migrations", unknown)
		})
	}
	for _, view := range views {
		found.ownTables = append(found.ownTables, view.Finding)
	}
	for _, operation := range a.OpenCircuits() {
		found.missing = append(found.missing, "model: "+operation)
	}
	if a.Verifier != nil {
		if err := a.Verifier.Ready(); err != nil {
			a.Log.WarnContext(ctx, "not ready", "error", err)
			found.missing = append(found.missing, "key set")
		}
	}
	return found
}

// missingFor names what the database lacks where a call of it fails.
func missingFor(err error) string {
	answer, is := errors.AsType[*postgrest.Error](err)
	switch {
	case errors.Is(err, supabase.ErrUnreleased):
		return "database made before 0.1.0"
	case is && answer.Code == postgrest.UnknownSchema:
		return "schema of SUPABASE_SCHEMA among the exposed ones"
	case postgrest.IsStale(err):
		return "schema cache of PostgREST"
	case fault.CodeOf(err) == fault.Forbidden:
		return "grants"
	default:
		return "database"
	}
}

// CompareSchema returns which of the program's migrations the database lacks, and which versions it
// has that the program does not know. The error is supabase.ErrUnreleased for a database that was
// made before the first release.
func CompareSchema(ctx context.Context, db *postgrest.Session, known []supabase.Migration) (missing []supabase.Migration, unknown []string, err error) {
	applied, err := rpc.Value[[]string](ctx, db, "list_migrations", nil)
	// The first migration creates this function. Without it there are none.
	if answer, is := errors.AsType[*postgrest.Error](err); err != nil && !(is && answer.Code == postgrest.UnknownFunction) {
		return nil, nil, fmt.Errorf("list the migrations of the database: %w", err)
	}
	if err := supabase.CheckReleased(known, applied); err != nil {
		return nil, nil, err
	}
	missing, unknown = supabase.Compare(known, applied)
	return missing, unknown, nil
}
