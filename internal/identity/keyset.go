package identity

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"golang.org/x/time/rate"

	"tasklens/internal/fault"
)

const (
	keySetAge     = 10 * time.Minute // then it is read again; a withdrawn key is rejected from then on
	keySetTimeout = 5 * time.Second  // of one request
	keySetPause   = time.Second      // after a failed first request
)

// A token chooses its key's name. An unknown name refreshes the set, at most this often.
const (
	unknownEvery = 30 * time.Second
	unknownBurst = 3
)

// keySet is a project's public keys. keyfunc keeps them up to date once they have been read.
type keySet struct {
	url    string
	client *http.Client

	mutex sync.Mutex
	keys  keyfunc.Keyfunc // nil: never read
	tried time.Time       // when reading failed last
	cause error
}

// load returns the keys. It reads them the first time, and again until that succeeds, because an
// unreachable key set must not look like an empty one: its tokens are not invalid.
func (s *keySet) load() (keyfunc.Keyfunc, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.keys != nil {
		return s.keys, nil
	}
	if s.cause == nil || time.Since(s.tried) >= keySetPause {
		required := false
		ctx, cancel := context.WithCancel(context.Background())
		defer func() {
			if s.keys == nil {
				cancel() // the library would go on to refresh what nobody uses
			}
		}()
		s.keys, s.cause = keyfunc.NewDefaultOverrideCtx(ctx, []string{s.url}, keyfunc.Override{
			Client: s.client, HTTPTimeout: keySetTimeout, NoErrorReturnFirstHTTPReq: &required, RefreshInterval: keySetAge,
			RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownEvery), unknownBurst), RateLimitWaitMax: keySetTimeout,
		})
		s.tried = time.Now()
	}
	if s.cause != nil {
		return nil, fault.Wrap(fault.Unavailable, "Access tokens cannot be checked now.", s.cause)
	}
	return s.keys, nil
}
