// Package memo caches results as long as they are valid. The key holds everything a result depends
// on, including the version of the data, so a committed edit invalidates it on every copy of the
// service at once. Concurrent requests for one key share one computation; callers that want events
// get a second one if the first sends none. The package knows neither what results are nor where
// they are stored.
//
// The data version is read before the result is computed. A result may therefore be newer than its
// version, and is then never found, but it is never older.
package memo

import (
	"context"
	"time"
)

// Database calls a Postgres function with named arguments, under the caller's identity.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Store keeps bytes under keys for a while. It may drop them at any time.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, bool)
	Set(ctx context.Context, key string, value []byte, lifetime time.Duration)
}

// Options are the operator's choices.
type Options struct {
	Store    Store
	Settings string        // names what all results depend on: models, weights, the version of the program
	Lifetime time.Duration // of a result, valid or not
	// Warn is called when a result was computed but its version could not be read.
	Warn func(ctx context.Context, message string, err error)
}

// Memo caches results. It is safe for concurrent use; a nil Memo caches nothing.
type Memo struct {
	options Options
	flights flights
	counts  counters
}

// New returns a Memo.
func New(options Options) *Memo {
	return &Memo{options: options, flights: newFlights()}
}

// Request is what is asked, and by whom.
type Request struct {
	Kind     string // of the request; counts are kept per kind
	Identity string // of the caller: results are never shared across identities
	// Bearer identifies the credential if it can expire, such as a token. Callers of one identity
	// share cached results, but not a computation that may fail for one credential only.
	Bearer  string
	Project *int64 // the only project the result depends on; nil for all
	Subject any    // everything else the result depends on, as JSON
}

// Made is a result.
type Made struct {
	Body []byte
	Keep []byte // the cached form; nil if the result must not be cached
	Note any    // for the current waiters, also beside an error; never cached, read-only
}

// Event is a part of a result that is sent before the result is complete.
type Event struct {
	Name string
	Data any // read-only
}

// Work computes a result. tell, if not nil, sends events; if it fails, the work ends. Work may run
// on a goroutine of its own, where a panic becomes an error.
type Work func(ctx context.Context, tell func(Event) error) (Made, error)

// Origin is where a result comes from.
type Origin int

const (
	Off    Origin = iota // computed; caching is disabled
	Hit                  // from the cache
	Stored               // computed and cached
	Shared               // computed for a concurrent request
	Passed               // computed, not cacheable
)

// Do returns the result of a request: from the cache, from a concurrent computation, or from work.
// With tell, events arrive as work sends them; a cached result has none. Errors are work's own,
// or of the version if that took all the time, and never cached.
func (m *Memo) Do(ctx context.Context, db Database, request Request, tell func(Event) error, work Work) (Made, Origin, error) {
	if m == nil {
		made, err := work(ctx, tell)
		return made, Off, err
	}
	version, err := m.version(ctx, db, request)
	switch {
	case err != nil && ctx.Err() != nil:
		return Made{}, Passed, err // work would blame what it asks first
	case err != nil:
		// Work most likely fails for the same reason, with a better error.
		made, failure := work(ctx, tell)
		if failure == nil {
			m.options.Warn(ctx, "remembering nothing: the data's version could not be read", err)
		}
		m.counts.add(request.Kind, Passed)
		return made, Passed, failure
	}
	key, err := m.key(request, version)
	if err != nil {
		return Made{}, Passed, err
	}
	made, origin, err := m.flights.do(ctx, key+request.Bearer, tell, func(ctx context.Context, tell func(Event) error) (Made, Origin, error) {
		if body, found := m.options.Store.Get(ctx, key); found {
			return Made{Body: body}, Hit, nil
		}
		made, err := work(ctx, tell)
		if err != nil || made.Keep == nil {
			return made, Passed, err
		}
		m.options.Store.Set(ctx, key, made.Keep, m.options.Lifetime)
		return made, Stored, nil
	})
	m.counts.add(request.Kind, origin)
	return made, origin, err
}
