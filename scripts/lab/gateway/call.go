package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// errStale means that the functions of this name changed since they were looked up. Nothing has
// been called.
var errStale = errors.New("functions changed")

// maxLookups limits the lookups per request while a schema is changing.
const maxLookups = 3

// call finds the function and calls it at most once. Only a lookup that proves stale before the
// call is repeated.
func (g *Gateway) call(ctx context.Context, r *http.Request, who caller, to target, args arguments) (outcome, error) {
	key := familyKey{to.schema, to.function}
	found := g.catalogue.cached(key)
	fresh := g.config.CachesSchema && len(found.members) > 0
	for range maxLookups {
		f, ok, err := found.choose(args)
		if err != nil || !ok {
			if fresh {
				return outcome{}, cmp.Or(err, error(found.notFound(to, args)))
			}
		} else {
			var out outcome
			if out, err = g.transact(ctx, r, who, to, args, f, found); !errors.Is(err, errStale) {
				return out, err
			}
		}
		if found, err = g.catalogue.load(ctx, key); err != nil {
			return outcome{}, err
		}
		fresh = true
	}
	return outcome{}, fault{status: http.StatusServiceUnavailable, code: "PGRST002",
		message: "Could not query the database for the schema cache. Retrying."}
}

// transact runs settings and call as one transaction in one round trip: in the extended protocol,
// everything between two Syncs is a transaction.
func (g *Gateway) transact(ctx context.Context, r *http.Request, who caller, to target, args arguments, f function, of family) (outcome, error) {
	session, release, err := g.pool.acquire(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer release()
	steps := []statement{g.settingSQL(r, who, to, f, of), callSQL(f, args, to.single, g.config.MaxRows)}
	inBlock := to.single && (f.shape == setScalar || f.shape == setObjects)
	if inBlock {
		// The row count decides whether to commit, which takes a second round trip.
		steps = append([]statement{{sql: "begin"}}, steps...)
	}
	values, failed, err := session.run(ctx, steps...)
	if err != nil {
		if inBlock {
			_ = session.exec(ctx, "rollback") // else the pool discards the connection
		}
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "22012" && failed == len(steps)-2 {
			return outcome{}, errStale
		}
		return outcome{}, err
	}
	if len(values) != 2 {
		return outcome{}, fmt.Errorf("call function: %d columns", len(values))
	}
	rows, err := strconv.ParseInt(string(values[0]), 10, 64)
	if err != nil {
		return outcome{}, fmt.Errorf("read count: %w", err)
	}
	if inBlock && rows != 1 {
		_ = session.exec(ctx, "rollback") // else the pool discards the connection
		return outcome{}, fault{status: http.StatusNotAcceptable, code: "PGRST116",
			message: "Cannot coerce the result to a single JSON object",
			details: fmt.Sprintf("The result contains %d rows", rows)}
	}
	if inBlock {
		if err := session.exec(ctx, "commit"); err != nil {
			return outcome{}, fmt.Errorf("commit: %w", err)
		}
	}
	if g.config.Served != nil {
		g.config.Served(f.name, rows)
	}
	return outcome{shape: f.shape, rows: min(rows, int64(g.config.MaxRows)), body: values[1]}, nil
}
