// Package gateway responds to POST and GET /rpc/{function} as PostgREST does, over Postgres. It is
// a development tool: where PostgREST is not installed, it gives the service and its tests the same
// HTTP interface as Supabase. Never expose it to users.
//
// It owns the way from a request to a transaction and back: token, choice of the function, role and
// settings for row-level security, shape of the result, and error status. It does not know the
// functions or what they do.
//
// Pages of any origin may call it. Unsupported, and refused if requested: tables, filters and
// columns in the query string, other bodies than JSON, functions with unnamed or variadic
// parameters. Unsupported and ignored: Prefer, the settings request.headers, request.cookies,
// response.status and response.headers, settings of roles but statement_timeout, and fuzzy hints.
//
// It logs nothing: errors are in the response, and bodies, tokens and arguments are confidential.
package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// MaxBody is the maximum size of a request's body, in bytes.
	MaxBody = 64 << 20
	// acquireTime is the maximum wait for a free connection, PostgREST's default for
	// db-pool-acquisition-timeout.
	acquireTime = 10 * time.Second
	// connectTime is the timeout of connecting.
	connectTime = 5 * time.Second
	// defaultConns is the default size of the pool.
	defaultConns = 8
	// MaxRows is max_rows of supabase/config.toml, the default of a hosted project.
	MaxRows = 1000
	// minSecret is the minimum length of an HS256 secret in bytes, as in PostgREST.
	minSecret = 32
)

// Config describes the served database and its callers.
type Config struct {
	// DatabaseURL logs in as a role that has no rights of its own and can become each of the roles
	// named in tokens (Supabase: authenticator).
	DatabaseURL string
	// JWTSecret is the HS256 key, at least 32 bytes.
	JWTSecret []byte
	// Schemas are those whose functions can be called. The first is the default.
	Schemas []string
	// ExtraSearchPath follows the request's schema in search_path.
	ExtraSearchPath []string
	// AnonRole is the role of requests without a token. If empty, they are refused.
	AnonRole string
	// MaxConns is the size of the pool; 0 means 8.
	MaxConns int
	// MaxRows is the maximum number of rows in a response, PostgREST's db-max-rows; 0 means MaxRows.
	MaxRows int
	// CachesSchema is a PostgREST that nobody tells of changes: what it knows of a function stays as
	// it was. Without it, it is told of each, as in a Supabase project.
	CachesSchema bool
	// Served, if not nil, gets the rows of each result, of which the client got at most MaxRows.
	Served func(function string, rows int64)
}

// Gateway is an http.Handler for /rpc/{function}, also under Supabase's prefix /rest/v1. It is safe
// for concurrent use.
type Gateway struct {
	config  Config
	pool    *pgxpool.Pool
	known   sync.Map     // functions by schema and name, if the schema is cached
	refused atomic.Int64 // long requests
}

// New makes a gateway. The database need not be up: until it is, requests get 503.
func New(_ context.Context, c Config) (*Gateway, error) {
	if len(c.JWTSecret) < minSecret {
		return nil, fmt.Errorf("the JWT secret is shorter than %d bytes", minSecret)
	}
	c.MaxRows = cmp.Or(c.MaxRows, MaxRows)
	config, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse gateway's database URL: %w", err)
	}
	config.MaxConns, config.ConnConfig.ConnectTimeout = int32(cmp.Or(c.MaxConns, defaultConns)), connectTime
	pool, err := pgxpool.NewWithConfig(context.Background(), config) // connects when asked
	return &Gateway{config: c, pool: pool}, err
}

// Close waits for running requests and closes the pool.
func (g *Gateway) Close() { g.pool.Close() }

// ServeHTTP runs a request in one transaction, to its end even if the client leaves, as PostgREST
// does: only a statement_timeout ends it.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if allowOrigin(w, r) {
		return
	}
	who, err := g.authenticate(r.Header.Get("Authorization"))
	if err != nil {
		g.explain(err, who).answer().refuse(w, r, r.ContentLength > readAnyway && g.refused.Add(1)%2 == 0)
		return
	}
	reply, err := g.handle(context.WithoutCancel(r.Context()), w, r, who)
	if err != nil {
		reply = g.explain(err, who).answer()
	}
	reply.write(w)
}

// handle makes the checks after the token's, in PostgREST's order, which decides the error that a
// client sees.
func (g *Gateway) handle(ctx context.Context, w http.ResponseWriter, r *http.Request, who caller) (answer, error) {
	to, err := g.route(r)
	if err != nil {
		return answer{}, err
	}
	args, err := readArguments(w, r, to)
	if err != nil {
		return answer{}, err
	}
	out, err := g.call(ctx, r, who, to, args)
	return out.answer(to), err
}
