// Package memo gives out again what was made before, as long as it is still true: a result is kept
// under everything that it depends on, the state of the data among it, so that an edit makes it
// unreachable on every copy of the service the moment it is committed. What many ask at the same
// moment is made once, or once more for those who want events where the first wanted none. It knows
// neither what results are nor where they are kept.
//
// The version of the data is read before the result is made. So a result may be newer than the
// version it is kept under, and then nobody finds it any more, but never older.
package memo

import (
	"context"
	"time"
)

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Store keeps bytes under keys for a while. It may forget at any time.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, bool)
	Set(ctx context.Context, key string, value []byte, lifetime time.Duration)
}

// Options are what an operator chooses.
type Options struct {
	Store    Store
	Settings string        // names everything that all results depend on: models, weights, the program itself
	Lifetime time.Duration // of a result, true or not
	MaxStale time.Duration // how old a version may be that is taken for the present one; 0: it is read for each request
	// Warn is told when a result could be made but its version not be read.
	Warn func(ctx context.Context, message string, err error)
}

// Memo remembers results. It is safe for concurrent use; a nil one remembers nothing.
type Memo struct {
	options  Options
	versions versions
	flights  flights
	counts   counters
}

// New makes a memo.
func New(options Options) *Memo {
	return &Memo{options: options, versions: versions{read: map[int64]reading{}}, flights: newFlights()}
}

// Request is what is asked, and by whom.
type Request struct {
	Kind     string // what is asked for; requests are counted by it
	Identity string // of the caller: what one may see another may not
	// Watched callers are asked about with every request of theirs, whatever MaxStale says: the
	// database alone knows what they may see now, and its version is one for them.
	Watched bool
	// Bearer tells apart whose right the result is made by, where that ends by itself, such as a
	// token's: callers of one identity share what was made, but not a making that may fail for one
	// of them alone.
	Bearer  string
	Project *int64 // the only project whose data the result depends on; nil for all
	Subject any    // everything else that the result depends on, as JSON
}

// Made is a result.
type Made struct {
	Body []byte
	Keep []byte // what is given out the next time; nil where the result is not to be kept
	Note any    // for those who wait for it now, also beside an error; kept nowhere, and nobody changes it
}

// Event is a part of a result that is told before the whole is there.
type Event struct {
	Name string
	Data any // nobody changes it any more
}

// Work makes a result. With tell, which comes from the caller's, it tells events; an error of it
// ends the work. It may run on a goroutine of its own, where a panic becomes an error.
type Work func(ctx context.Context, tell func(Event) error) (Made, error)

// Origin says where a result comes from.
type Origin int

const (
	Off    Origin = iota // made; nothing is remembered here
	Hit                  // made earlier
	Stored               // made, and kept for the next
	Shared               // made for another request of the same moment
	Passed               // made, and not to be kept
)

// Do gives the result of a request: one that was made earlier and is still true, or the one that is
// being made for somebody else, or else work's. With tell, events come as work tells them; a result
// that was made earlier has none. Errors are work's own and never kept.
func (m *Memo) Do(ctx context.Context, db Database, request Request, tell func(Event) error, work Work) (Made, Origin, error) {
	if m == nil {
		made, err := work(ctx, tell)
		return made, Off, err
	}
	version, stale, err := m.version(ctx, db, request)
	if err != nil {
		// Most likely work fails by the same, and tells it better.
		made, failure := work(ctx, tell)
		if failure == nil {
			m.options.Warn(ctx, "remembering nothing: the data's version could not be read", err)
		}
		m.counts.add(request.Kind, Passed, false)
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
	m.counts.add(request.Kind, origin, stale)
	return made, origin, err
}
