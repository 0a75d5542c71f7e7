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

// How long a key set is good. A key that is withdrawn is out after keySetAge, and after keySetStale at the latest while the
// set cannot be read.
const (
	keySetAge     = 10 * time.Minute // after which it is read again
	keySetStale   = time.Hour        // after which it is not used any more
	keySetTimeout = 5 * time.Second  // of one attempt to read it
	keySetPause   = time.Second      // after an attempt that failed
	keySetBytes   = 1 << 20
)

// Tokens choose the names of their keys: one that is unknown has the set read anew, but not more often than this.
const (
	unknownEvery = 30 * time.Second
	unknownBurst = 3
)

// keySet is a project's public keys, read when they are needed and kept for a while.
type keySet struct {
	url     string
	client  *http.Client
	now     func() time.Time
	unknown *rate.Limiter
	reads   singleflight.Group

	mutex   sync.Mutex
	keys    keyfunc.Keyfunc // nil: never read
	read    time.Time       // when they were
	tried   time.Time       // when that was last attempted
	failure error           // of the last attempt
}

func newKeySet(url string, transport http.RoundTripper) *keySet {
	return &keySet{
		url: url, now: time.Now, unknown: rate.NewLimiter(rate.Every(unknownEvery), unknownBurst),
		client: &http.Client{Transport: transport, Timeout: keySetTimeout, CheckRedirect: noRedirect},
	}
}

// key gives the key that a token is signed with.
func (s *keySet) key(ctx context.Context, token *jwt.Token) (any, error) {
	keys, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	key, err := keys.Keyfunc(token)
	if !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	// It may be newer than the set.
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

// present gives the keys, read lately enough.
func (s *keySet) present(ctx context.Context) (keyfunc.Keyfunc, error) {
	s.mutex.Lock()
	keys, age, rested, failure := s.keys, s.now().Sub(s.read), s.now().Sub(s.tried) >= keySetPause, s.failure
	s.mutex.Unlock()
	usable := keys != nil && age < keySetStale
	switch {
	case usable && age < keySetAge:
		return keys, nil
	case usable && rested:
		s.begin() // and nobody waits for it
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

// refresh reads the set anew, once for all who want it, and waits for it.
func (s *keySet) refresh(ctx context.Context) error {
	select {
	case result := <-s.begin():
		return result.Err
	case <-ctx.Done():
		return fmt.Errorf("wait for the key set: %w", context.Cause(ctx))
	}
}

// begin starts to read the set, unless that is under way. It takes keySetTimeout at most, whoever waits.
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
