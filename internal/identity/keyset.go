package identity

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"tasklens/internal/fault"
)

// A token chooses its key's name: unknown ones have the set read at most this often, and each once
// in a while, because many hold tokens of a withdrawn key.
const (
	keySetAge     = 10 * time.Minute // then it is read again; a withdrawn key is rejected from then on
	keySetTimeout = 5 * time.Second  // of one request
	readEvery     = time.Second
	readBurst     = 3
	nameAge       = 10 * time.Second
	namesKept     = 1000
)

// keySet is a project's public keys.
type keySet struct {
	url    string
	client *http.Client
	keys   keyfunc.Keyfunc
	budget *rate.Limiter
	names  *otter.Cache[string, bool] // digests of those that the set was read for
	tried  atomic.Bool
	known  atomic.Bool // they were read
}

func newKeySet(url string, client *http.Client) *keySet {
	keys, _ := keyfunc.New(keyfunc.Options{Storage: jwkset.NewMemoryStorage()}) // it fails without a storage only
	return &keySet{
		url: url, client: client, keys: keys, budget: rate.NewLimiter(rate.Every(readEvery), readBurst),
		names: otter.Must(&otter.Options[string, bool]{MaximumSize: namesKept, ExpiryCalculator: otter.ExpiryWriting[string, bool](nameAge)}),
	}
}

// find returns the key for a token.
func (s *keySet) find(ctx context.Context, token *jwt.Token) (key any, err error) {
	if err := s.load(ctx, ""); err != nil {
		return nil, err
	}
	if key, err = s.keys.KeyfuncCtx(ctx)(token); !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	name, _ := token.Header[jwkset.HeaderKID].(string)
	if err := s.load(ctx, Digest(name)); err != nil {
		return nil, err
	}
	return s.keys.KeyfuncCtx(ctx)(token)
}

// load reads the keys for a name, unless that was done lately; "": unless they were ever read. An
// unreachable key set must not look like an empty one: its tokens are not invalid.
func (s *keySet) load(ctx context.Context, name string) error {
	if name == "" && s.known.Load() {
		return nil
	}
	_, err := s.names.Get(ctx, name, otter.LoaderFunc[string, bool](s.read)) // shared by all who wait for it
	if err == nil {
		return nil
	}
	failure := fault.Wrap(fault.Unavailable, "Access tokens cannot be checked now.", err)
	failure.RetryAfter = readEvery
	return failure
}

func (s *keySet) read(context.Context, string) (bool, error) {
	if !s.budget.Allow() {
		return false, errors.New("the public keys were read too often")
	}
	options := jwkset.HTTPClientStorageOptions{Client: s.client, HTTPTimeout: keySetTimeout, Storage: s.keys.Storage()}
	if s.tried.CompareAndSwap(false, true) { // the library goes on to read them, even if this fails
		options.RefreshInterval = keySetAge
		options.RefreshErrorHandler = func(_ context.Context, err error) { slog.Error("the public keys could not be read", "error", err) }
	}
	_, err := jwkset.NewStorageFromHTTP(s.url, options)
	s.known.CompareAndSwap(false, err == nil)
	return true, err
}
