package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// A Redis that is slow or away must not hold up what would do without it.
const (
	redisPause   = time.Second // how long it is left alone after a command that failed
	warningPause = time.Minute // between two warnings
)

// maxRedisValue bounds what is kept: far more than the longest response.
const maxRedisValue = 8 << 20

// Redis is a store that all copies of the service share. How much it holds, and what goes first, is the server's setting
// (maxmemory, maxmemory-policy). Who can write to it can put words into our answers: it must be as well guarded as the
// database.
type Redis struct {
	client   *redis.Client
	patience time.Duration
	warn     func(message string, err error)
	now      func() time.Time
	rests    atomic.Int64 // until when it is left alone, in Unix nanoseconds
	warned   atomic.Int64 // when we last said so
}

var _ Store = (*Redis)(nil)

// IsRedisURL says whether NewRedis can use an address.
func IsRedisURL(url string) bool {
	_, err := redis.ParseURL(url)
	return err == nil
}

// NewRedis makes a store at a URL (redis:// or, with TLS, rediss://). Nothing is sent yet. patience is for one
// command, dialling included. warn is told, once a minute at most, that Redis fails.
func NewRedis(url string, patience time.Duration, warn func(message string, err error)) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errURL // and not the library's, which may show a password
	}
	logging.Disable() // the library would write to standard error by itself
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = patience, patience, patience, patience
	options.DialerRetries, options.MaxRetries = 1, -1
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true
	return &Redis{client: redis.NewClient(options), patience: patience, warn: warn, now: time.Now}, nil
}

// Get gives the value of a key; none where Redis fails.
func (r *Redis) Get(ctx context.Context, key string) (value []byte, found bool) {
	err := r.do(ctx, func(ctx context.Context) (err error) {
		value, err = r.client.Get(ctx, key).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		found = err == nil
		return err
	})
	return value, found && err == nil
}

// Set keeps a value, where Redis does not fail.
func (r *Redis) Set(ctx context.Context, key string, value []byte, lifetime time.Duration) {
	if len(value) > maxRedisValue {
		return
	}
	_ = r.do(ctx, func(ctx context.Context) error { return r.client.Set(ctx, key, value, lifetime).Err() })
}

// Close ends the connections.
func (r *Redis) Close() error {
	if err := r.client.Close(); err != nil {
		return fmt.Errorf("close Redis: %w", err)
	}
	return nil
}

var errURL = errors.New("the address of Redis cannot be read")

// errResting is why Redis is not asked.
var errResting = errors.New("Redis failed a moment ago")

// do asks Redis, unless it failed a moment ago.
func (r *Redis) do(ctx context.Context, command func(ctx context.Context) error) error {
	now := r.now()
	if now.UnixNano() < r.rests.Load() {
		return errResting
	}
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	err := command(limited)
	if err == nil || ctx.Err() != nil { // the caller's own end says nothing about Redis
		return err
	}
	r.rests.Store(r.now().Add(redisPause).UnixNano())
	if last := r.warned.Load(); now.UnixNano()-last >= int64(warningPause) && r.warned.CompareAndSwap(last, now.UnixNano()) {
		r.warn("doing without Redis for a while", err)
	}
	return err
}
