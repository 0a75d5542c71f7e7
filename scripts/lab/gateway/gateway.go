// Package gateway answers POST and GET /rpc/{function} as PostgREST does, over
// Postgres. It is a development part: it stands in where no PostgREST is
// installed, so that the service and its tests speak to a database through the
// same HTTP interface that Supabase offers in production. Never put it before
// users.
//
// It owns the way from a request to one transaction and back: the token, the
// choice of the function, the role and settings that row-level security reads,
// the shape of the result, and the status of an error. It must not know which
// functions there are, nor anything about what they do.
//
// A page of any origin may call it. Left out, and refused rather than ignored where asked for:
// tables, filters and columns in the query string, CSV, XML and binary bodies.
// Left out in silence: Prefer, the settings response.status and
// response.headers, settings of roles, and fuzzy hints.
//
// It logs nothing: what went wrong is in the answer, and bodies, tokens and
// arguments are nobody's to keep.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// MaxBody bounds a request's body, in bytes.
	MaxBody = 64 << 20
	// requestTime bounds a request whose client set no deadline of its own.
	requestTime = 30 * time.Second
	// acquireTime bounds the wait for a free connection, as PostgREST's
	// db-pool-acquisition-timeout does by default.
	acquireTime = 10 * time.Second
	// connectTime bounds the making of one connection.
	connectTime = 5 * time.Second
	// defaultConns is the size of the pool when Config leaves it open.
	defaultConns = 8
	// minSecret is the least length of an HS256 secret, in bytes, that
	// PostgREST starts with.
	minSecret = 32
)

// Config says which database is served, and to whom.
type Config struct {
	// DatabaseURL logs in as a role that has no rights of its own and may
	// become each of the roles that tokens name (Supabase: authenticator).
	DatabaseURL string
	// JWTSecret is the HS256 key, at least 32 bytes.
	JWTSecret []byte
	// Schemas are those whose functions can be called; the first is meant when
	// a request names none.
	Schemas []string
	// ExtraSearchPath follows the request's schema in search_path.
	ExtraSearchPath []string
	// AnonRole is who a request without a token is. Empty: it is refused.
	AnonRole string
	// MaxConns is the size of the pool; 0 means 8.
	MaxConns int
}

func (c Config) check() error {
	var problems []error
	if c.DatabaseURL == "" {
		problems = append(problems, errors.New("database URL is empty"))
	}
	if len(c.JWTSecret) < minSecret {
		problems = append(problems, fmt.Errorf("JWT secret is shorter than %d bytes", minSecret))
	}
	if len(c.Schemas) == 0 {
		problems = append(problems, errors.New("no schema to expose"))
	}
	if c.MaxConns < 0 {
		problems = append(problems, errors.New("pool size is negative"))
	}
	return errors.Join(problems...)
}

// Gateway is an http.Handler for /rpc/{function}, also under /rest/v1, the
// prefix that Supabase puts before it. It is safe for concurrent use.
type Gateway struct {
	config    Config
	pool      *pool
	catalogue *catalogue
}

// New checks the configuration. It does not need the database to be up:
// requests are answered 503 until it is.
func New(_ context.Context, c Config) (*Gateway, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("configure gateway: %w", err)
	}
	login, err := pgconn.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse gateway's database URL: %w", err)
	}
	login.ConnectTimeout = connectTime
	size := c.MaxConns
	if size == 0 {
		size = defaultConns
	}
	pool := newPool(login, size)
	return &Gateway{config: c, pool: pool, catalogue: newCatalogue(pool)}, nil
}

// Close waits for the requests under way and closes the pool.
func (g *Gateway) Close() { g.pool.close() }

// ServeHTTP answers one request with one transaction.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if allowOrigin(w, r) {
		return
	}
	ctx := r.Context()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestTime)
		defer cancel()
	}
	reply, err := g.handle(ctx, w, r)
	if err != nil {
		reply = faultOf(err).answer()
	}
	reply.write(w)
}

// handle goes through the same checks as PostgREST, in its order: which of two
// faults a client hears of depends on it.
func (g *Gateway) handle(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	who, err := g.authenticate(r.Header.Get("Authorization"))
	if err != nil {
		return answer{}, err
	}
	to, err := g.route(r)
	if err != nil {
		return answer{}, err
	}
	args, err := readArguments(w, r, to)
	if err != nil {
		return answer{}, err
	}
	out, err := g.call(ctx, r, who, to, args)
	if err != nil {
		return answer{}, g.explain(ctx, err, who, args)
	}
	return out.answer(to), nil
}
