package gateway

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errPoolBusy = errors.New("no connection became free")

// pool lends sessions. A session serves one request at a time; its prepared statements stay with
// its connection.
type pool struct{ *pgxpool.Pool }

func newPool(databaseURL string, size int) (pool, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return pool{}, err
	}
	config.MaxConns, config.ConnConfig.ConnectTimeout = int32(size), connectTime
	connections, err := pgxpool.NewWithConfig(context.Background(), config) // connects when asked
	return pool{connections}, err
}

// acquire lends a session, and what returns it. A connection that cannot run another transaction is
// closed then.
func (p pool) acquire(ctx context.Context) (*session, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, acquireTime)
	defer cancel()
	lent, err := p.Acquire(ctx)
	if err != nil {
		if connecting := new(pgconn.ConnectError); errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &connecting) {
			err = errPoolBusy
		}
		return nil, nil, err
	}
	return sessionOf(lent.Conn().PgConn()), lent.Release, nil
}
