// Package api speaks HTTP: routes, decoding, encoding, and the status of each error. Only this
// package uses Fiber. It does not know how anything is searched or answered.
package api

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/singleflight"

	"tasklens/internal/answer"
	"tasklens/internal/enrich"
	"tasklens/internal/fault"
	"tasklens/internal/identity"
	"tasklens/internal/index"
	"tasklens/internal/memo"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/rescue"
	"tasklens/internal/search"
	"tasklens/server/console"
	"tasklens/server/mcp"
	"tasklens/server/observe"
	"tasklens/supabase"
)

// Limits of every request.
const (
	maxBodyBytes   = 1 << 20
	maxHeaderBytes = 16 << 10 // access tokens are long
	maxConnections = 2048     // each takes about 50 kB; more get a 503
)

// Parts are the dependencies of the API.
type Parts struct {
	Database       *postgrest.Client
	Indexer        *index.Indexer
	Searcher       *search.Searcher
	Comparer       *search.Comparer
	Answerer       *answer.Answerer
	Enricher       *enrich.Enricher
	Tracker        *querylog.Backlog[querylog.Retrieval] // nil counts no retrievals
	QueryLog       *querylog.Backlog[querylog.Entry]     // nil keeps none
	Memo           *memo.Memo                            // nil: responses are not cached
	Embeddings     *memo.Embeddings                      // of queries
	Verifier       *identity.Verifier                    // of callers; nil: without a token they are the service (AUTH=off)
	Limits         Limits
	Migrations     fs.FS
	Observer       *observe.Observer // nil: a new one
	Console        *console.Console  // nil: there is none at /
	MetricsHere    bool              // whether /metrics is among the routes
	OpenCircuits   func() []string   // operations of the model whose circuit breaker is open
	Log            *slog.Logger
	EmbeddingModel string           // of documents, and of tickets unless the database names another
	MatchThreshold *float64         // the operator's, where a request names none; nil: what fits the serving model
	Fusion         string           // where a request names none: search.RRF, also where it is empty, or search.Convex
	RequestTimeout time.Duration    // for everything that one request does
	PublicURL      string           // where clients reach the service; "": as the request named it
	Issuer         string           // of callers' tokens, for OAuth clients
	Version        string           // of the program
	Heartbeat      time.Duration    // how often a silent stream says that it lives; 0 is every 15 s
	Now            func() time.Time // by which "today" in a question is read; time.Now by default
}

// API is the HTTP side of the service.
type API struct {
	Parts
	app        *fiber.App
	base       context.Context // ends when the service stops waiting for requests
	cancel     context.CancelFunc
	migrations []supabase.Migration // that the database must have applied
	newer      sync.Once            // says that the database has migrations of a newer program
	inFlight   crowd                // requests: "" counts all, a user's key theirs
	readying   singleflight.Group
	tools      mcp.Handler
	operations []route
}

// New builds the API. It does not listen yet.
func New(parts Parts) (*API, error) {
	migrations, err := supabase.List(parts.Migrations)
	if err != nil {
		return nil, err
	}
	a := &API{Parts: parts, migrations: migrations, inFlight: crowd{in: map[string]int{}}, tools: mcp.NewHandler(parts.Version)}
	if a.Observer == nil {
		a.Observer = observe.New()
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	if a.Heartbeat <= 0 {
		a.Heartbeat = defaultHeartbeat
	}
	a.base, a.cancel = context.WithCancel(context.Background())
	a.app = fiber.New(fiber.Config{
		AppName:               "tasklens",
		DisableStartupMessage: true,
		// Otherwise strings of a request are Fiber's own buffers, which are reused after it.
		Immutable: true,
		BodyLimit: maxBodyBytes,
		// Otherwise memory of the announced length is taken before the caller is known. Handlers
		// read bodies with readBody.
		StreamRequestBody: true,
		ReadBufferSize:    maxHeaderBytes,
		Concurrency:       maxConnections,
		ReadTimeout:       a.Limits.HeaderTimeout,
		WriteTimeout:      a.Limits.WriteTimeout, // streams set their own with each event
		IdleTimeout:       a.Limits.IdleTimeout,
		ErrorHandler:      a.problem,
		// No route accepts a form. Parsed as one, a body would be rejected before a handler sees
		// it.
		DisablePreParseMultipartForm: true,
	})
	a.app.Server().CloseOnShutdown = true // what is answered while the service stops says that its connection ends
	a.app.Server().HeaderReceived = func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
		return fasthttp.RequestConfig{ReadTimeout: a.Limits.ReadTimeout, WriteTimeout: a.Limits.WriteTimeout} // for the body from here on
	}
	a.app.Server().Handler = a.outermost(a.app.Server().Handler)
	a.routes()
	return a, nil
}

// outermost wraps Fiber, which does not recover panics outside its handlers, and answers unknown
// methods in plain text: it gets them as one that no route has.
func (a *API) outermost(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(request *fasthttp.RequestCtx) {
		err := rescue.Do(func() error {
			if !slices.Contains(fiber.DefaultMethods, string(request.Method())) {
				request.Request.Header.SetMethod(fiber.MethodTrace)
			}
			next(request)
			return nil
		})
		if err != nil {
			c := a.app.AcquireCtx(request)
			defer a.app.ReleaseCtx(c)
			_ = a.problem(c, err)
		}
	}
}

// Listener serves connections until Shutdown.
func (a *API) Listener(listener net.Listener) error {
	return a.app.Listener(patient{listener, a.Log})
}

// acceptPause is the time between attempts to accept while there are no descriptors.
const acceptPause = 100 * time.Millisecond

// patient waits while the process or the machine has no descriptor for another connection. fasthttp
// would stop serving at the first such error of accept.
type patient struct {
	net.Listener
	log *slog.Logger
}

func (l patient) Accept() (net.Conn, error) {
	for reported := false; ; reported = true {
		conn, err := l.Listener.Accept()
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return conn, err
		}
		if !reported {
			l.log.Error("cannot accept connections until others close", "error", err)
		}
		time.Sleep(acceptPause)
	}
}

// Shutdown stops accepting connections and waits for requests in flight. After four fifths of the
// time it cancels the rest, so that their clients still get a problem response, or an error event
// in a stream.
func (a *API) Shutdown(drain time.Duration) error {
	defer a.cancel()
	defer time.AfterFunc(drain/5*4, a.cancel).Stop()
	return a.app.ShutdownWithTimeout(drain)
}

// stopping turns a timeout into "unavailable" if the service is shutting down.
func (a *API) stopping(err error) error {
	if a.base.Err() == nil || fault.CodeOf(err) != fault.Timeout {
		return err
	}
	return fault.Wrap(fault.Unavailable, "The service is stopping.", err).Because(fault.Stopping)
}
