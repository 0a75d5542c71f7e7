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

// A slow or unreachable Redis must not delay requests, which work without it.
const (
	redisPause   = time.Second // how long it is skipped after a failed command
	warningPause = time.Minute // between two warnings
)

// maxRedisValue bounds a value: far more than the longest response.
const maxRedisValue = 8 << 20

// Redis is a store shared by all instances. Its size and eviction are settings of the server
// (maxmemory, maxmemory-policy). Write access to it allows forging answers, so protect it like the
// database.
type Redis struct {
	client   *redis.Client
	patience time.Duration
	warn     func(message string, err error)
	now      func() time.Time
	rests    atomic.Int64 // skipped until then, in Unix nanoseconds
	warned   atomic.Int64 // time of the last warning
}

// IsRedisURL reports whether NewRedis accepts a URL.
func IsRedisURL(url string) bool {
	_, err := redis.ParseURL(url)
	return err == nil
}

// NewRedis returns a store at a URL (redis:// or, with TLS, rediss://). It sends nothing yet.
// patience bounds each command, including dialling. warn is called at most once a minute while
// Redis fails.
func NewRedis(url string, patience time.Duration, warn func(message string, err error)) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errURL // the library's error may contain a password
	}
	logging.Disable() // the library would write to standard error
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = patience, patience, patience, patience
	options.DialerRetries, options.MaxRetries = 1, -1
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true
	return &Redis{client: redis.NewClient(options), patience: patience, warn: warn, now: time.Now}, nil
}

// Get returns the value of a key, or a miss if Redis fails.
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

// Set stores a value, unless Redis fails.
func (r *Redis) Set(ctx context.Context, key string, value []byte, lifetime time.Duration) {
	if len(value) > maxRedisValue {
		return
	}
	_ = r.do(ctx, func(ctx context.Context) error { return r.client.Set(ctx, key, value, lifetime).Err() })
}

// Run runs a Lua script that returns numbers, with its own keys. Its result, unlike a cached value,
// cannot be recomputed, so Run returns an error if Redis fails or failed a moment ago.
func (r *Redis) Run(ctx context.Context, script string, keys []string, arguments ...any) (numbers []int64, err error) {
	err = r.do(ctx, func(ctx context.Context) (err error) {
		numbers, err = redis.NewScript(script).Run(ctx, r.client, keys, arguments...).Int64Slice()
		return err
	})
	return numbers, err
}

// Close closes the connections.
func (r *Redis) Close() error {
	if err := r.client.Close(); err != nil {
		return fmt.Errorf("close Redis: %w", err)
	}
	return nil
}

var errURL = errors.New("the address of Redis cannot be read")

// errResting is the error while Redis is skipped after a failure.
var errResting = errors.New("Redis failed a moment ago")

// do runs a command, unless Redis failed a moment ago.
func (r *Redis) do(ctx context.Context, command func(ctx context.Context) error) error {
	now := r.now()
	if now.UnixNano() < r.rests.Load() {
		return errResting
	}
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	err := command(limited)
	if err == nil || ctx.Err() != nil { // the caller's deadline says nothing about Redis
		return err
	}
	r.rests.Store(r.now().Add(redisPause).UnixNano())
	if last := r.warned.Load(); now.UnixNano()-last >= int64(warningPause) && r.warned.CompareAndSwap(last, now.UnixNano()) {
		r.warn("doing without Redis for a while", err)
	}
	return err
}
