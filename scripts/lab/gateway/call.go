package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errPoolBusy = errors.New("no connection became free")

// acquire lends a connection. One that cannot run another transaction is closed when it is
// released.
func (g *Gateway) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, acquireTime)
	defer cancel()
	lent, err := g.pool.Acquire(ctx)
	if connecting := new(pgconn.ConnectError); errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &connecting) {
		err = errPoolBusy
	}
	return lent, err
}

// call finds the function and calls it, with its settings, as one transaction.
func (g *Gateway) call(ctx context.Context, r *http.Request, who caller, to target, args arguments) (outcome, error) {
	lent, err := g.acquire(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer lent.Release()
	members, err := g.lookUp(ctx, lent.Conn(), to.schema, to.function)
	if err != nil {
		return outcome{}, err
	}
	f, found := choose(members, args)
	if !found {
		return outcome{}, notFound(to, args, members)
	}
	conn := lent.Conn().PgConn()
	end := func(command string) error { return conn.Exec(ctx, command).Close() }
	steps := []statement{g.settingSQL(r, who, to, f), callSQL(f, args, to.single, g.config.MaxRows)}
	inBlock := to.single && (f.shape == setScalar || f.shape == setObjects)
	if inBlock { // the number of rows decides whether to commit
		steps = append([]statement{{sql: "begin"}}, steps...)
	}
	values, err := run(ctx, conn, steps)
	if err != nil {
		if inBlock {
			_ = end("rollback") // else the pool closes the connection
		}
		return outcome{}, err
	}
	rows, err := strconv.ParseInt(string(values[0]), 10, 64)
	if err != nil {
		return outcome{}, fmt.Errorf("read count: %w", err)
	}
	if inBlock && rows != 1 {
		_ = end("rollback")
		return outcome{}, fault{status: http.StatusNotAcceptable, code: "PGRST116", message: "Cannot coerce the result to a single JSON object",
			details: fmt.Sprintf("The result contains %d rows", rows)}
	}
	if inBlock {
		if err := end("commit"); err != nil {
			return outcome{}, err
		}
	}
	if g.config.Served != nil {
		g.config.Served(f.name, rows)
	}
	return outcome{shape: f.shape, rows: min(rows, int64(g.config.MaxRows)), body: values[1]}, nil
}

// run sends all steps in one round trip, which makes them one transaction, and returns the row of
// the last one. Each is prepared where it runs, because the login role may not use the schema.
func run(ctx context.Context, conn *pgconn.PgConn, steps []statement) (row [][]byte, err error) {
	var batch pgconn.Batch
	for _, step := range steps {
		batch.ExecParams(step.sql, step.values, step.types, nil, nil)
	}
	results, err := conn.ExecBatch(ctx, &batch).ReadAll()
	for _, result := range results {
		err = errors.Join(err, result.Err)
	}
	if err != nil {
		return nil, err
	}
	if last := results[len(results)-1]; len(last.Rows) == 1 && len(last.Rows[0]) == 2 {
		return last.Rows[0], nil
	}
	return nil, errors.New("call function: not a row of a count and a body")
}
