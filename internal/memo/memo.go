// Package memo caches results as long as they are valid. The key holds everything a result depends
// on, including the version of the data, so a committed edit invalidates it on every copy of the
// service at once. Concurrent requests for one key share one computation. The package does not know
// what results are.
//
// The data version is from before the result is computed. A result may therefore be newer than its
// version, and is then never found, but it is never older.
package memo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/rescue"
)

// Count is called for each request that has a result.
type Count func(kind string, origin Origin)

// Memo caches results. It is safe for concurrent use; a nil Memo caches nothing.
type Memo struct {
	store    *Memory
	lifetime time.Duration
	count    Count
	running  singleflight.Group
}

// New returns a Memo that keeps results in a store, valid or not, for a lifetime.
func New(store *Memory, lifetime time.Duration, count Count) *Memo {
	return &Memo{store: store, lifetime: lifetime, count: count}
}

// Request is what is asked, and by whom.
type Request struct {
	Kind     string // of the request; counts are kept per kind
	Identity string // of the caller: results are never shared across identities
	// Bearer identifies the credential if it can expire, such as a token. Callers of one identity
	// share cached results, but not a computation that may fail for one credential only.
	Bearer  string
	Version string // of the data that the result depends on, from before it is computed
	Subject any    // everything else the result depends on, as JSON
	Alone   bool   // the work tells its caller more than the result, so it is not shared
}

// Made is a result.
type Made struct {
	Body []byte
	Keep []byte // the cached form; nil if the result must not be cached
	Note any    // for the current waiters, also beside an error; never cached, read-only
	// Origin is set by Do.
	Origin Origin
}

// Origin is where a result comes from.
type Origin int

const (
	Off    Origin = iota // computed; caching is disabled
	Hit                  // from the cache
	Stored               // computed and cached
	Shared               // computed for a concurrent request
	Passed               // computed, not cacheable
)

// Do returns the result of a request: from the cache, from a concurrent computation, which ends at
// the deadline of its first caller, or from work. Errors are work's own and never cached.
func (m *Memo) Do(ctx context.Context, request Request, work func(context.Context) (Made, error)) (made Made, err error) {
	if m == nil {
		return work(ctx)
	}
	key, err := keyOf("result", request.Kind, request.Identity, request.Version, request.Subject)
	if err != nil {
		return Made{Origin: Passed}, err
	}
	find := func(ctx context.Context) (Made, error) {
		if body, found := m.store.Get(key); found {
			return Made{Body: body, Origin: Hit}, nil
		}
		made, err := work(ctx)
		if made.Origin = Passed; err != nil || made.Keep == nil {
			return made, err
		}
		m.store.Set(key, made.Keep, m.lifetime)
		made.Origin = Stored
		return made, nil
	}
	defer func() { m.count(request.Kind, made.Origin) }()
	if request.Alone {
		return find(ctx)
	}
	first := false
	shared, err, _ := m.running.Do(key+request.Bearer, func() (any, error) {
		first = true
		var made Made
		err := rescue.Do(func() (err error) {
			made, err = find(ctx)
			return err
		})
		return made, err
	})
	if made = shared.(Made); !first && err == nil && made.Origin != Hit {
		made.Origin = Shared
	}
	return made, err
}

// keyOf is a digest of everything a result depends on, as a JSON array, which is unambiguous.
func keyOf(kind string, parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("make a key for a %s: %w", kind, err)
	}
	sum := sha256.Sum256(text)
	return kind + ":" + hex.EncodeToString(sum[:]), nil
}
