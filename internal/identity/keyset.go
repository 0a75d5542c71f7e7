package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

// Lifetimes of the key set. A withdrawn key is rejected after keySetAge, or after keySetStale if
// the set cannot be refreshed.
const (
	keySetAge     = 10 * time.Minute // then it is refreshed
	keySetStale   = time.Hour        // then it is no longer used
	keySetTimeout = 5 * time.Second  // of one request
	keySetPause   = time.Second      // after a failed request
	keySetBytes   = 1 << 20
)

// A token chooses its key's name. An unknown name refreshes the set, at most this often.
const (
	unknownEvery = 30 * time.Second
	unknownBurst = 3
)

// keySet is a project's public keys, loaded on demand and cached.
type keySet struct {
	url     string
	client  *http.Client
	now     func() time.Time
	unknown *rate.Limiter
	reads   singleflight.Group

	mutex   sync.Mutex
	keys    keyfunc.Keyfunc // nil: never loaded
	read    time.Time       // when keys were loaded
	tried   time.Time       // when a load was last attempted
	failure error           // of the last attempt
}

func newKeySet(url string, transport http.RoundTripper) *keySet {
	return &keySet{
		url: url, now: time.Now, unknown: rate.NewLimiter(rate.Every(unknownEvery), unknownBurst),
		client: &http.Client{Transport: transport, Timeout: keySetTimeout, CheckRedirect: noRedirect},
	}
}

// key returns the key that a token is signed with.
func (s *keySet) key(ctx context.Context, token *jwt.Token) (any, error) {
	keys, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	key, err := keys.Keyfunc(token)
	if !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	// The key may be newer than the cached set.
	if s.unknown.AllowN(s.now(), 1) {
		if err := s.refresh(ctx); err != nil {
			return nil, unreachable(err)
		}
	}
	if keys, err = s.present(ctx); err != nil {
		return nil, err
	}
	return keys.Keyfunc(token)
}

// present returns the keys if they are recent enough, and loads them otherwise.
func (s *keySet) present(ctx context.Context) (keyfunc.Keyfunc, error) {
	s.mutex.Lock()
	keys, age, rested, failure := s.keys, s.now().Sub(s.read), s.now().Sub(s.tried) >= keySetPause, s.failure
	s.mutex.Unlock()
	usable := keys != nil && age < keySetStale
	switch {
	case usable && age < keySetAge:
		return keys, nil
	case usable && rested:
		s.begin() // in the background
		return keys, nil
	case usable:
		return keys, nil
	case failure != nil && !rested:
		return nil, unreachable(failure)
	}
	if err := s.refresh(ctx); err != nil {
		return nil, unreachable(err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.keys, nil
}

// refresh reloads the set, once for all concurrent callers, and waits for it.
func (s *keySet) refresh(ctx context.Context) error {
	select {
	case result := <-s.begin():
		return result.Err
	case <-ctx.Done():
		return fmt.Errorf("wait for the key set: %w", context.Cause(ctx))
	}
}

// begin starts a reload unless one is running. It takes at most keySetTimeout, independent of its
// callers.
func (s *keySet) begin() <-chan singleflight.Result {
	return s.reads.DoChan("", func() (any, error) {
		var keys keyfunc.Keyfunc
		err := rescue.Do(func() (err error) {
			keys, err = s.fetch()
			return err
		})
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.tried, s.failure = s.now(), err
		if err == nil {
			s.keys, s.read = keys, s.tried
		}
		return nil, err
	})
}

func (s *keySet) fetch() (keyfunc.Keyfunc, error) {
	response, err := s.client.Get(s.url)
	if err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the key set: it answered %s", response.Status)
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, keySetBytes))
	if err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	keys, err := keyfunc.NewJWKSetJSON(text)
	if err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	return keys, nil
}

func unreachable(err error) error {
	return fault.Wrap(fault.Unavailable, "Access tokens cannot be checked now.", err)
}
