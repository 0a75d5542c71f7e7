package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"
)

// A slow or unreachable Redis must not delay requests, which work without it.
const (
	redisPause   = time.Second // how long it is skipped after a failed command
	warningPause = time.Minute // between two warnings
)

// Redis counts the requests of all instances.
type Redis struct {
	client   *redis.Client
	limiter  *redis_rate.Limiter
	breaker  *gobreaker.CircuitBreaker[Verdict]
	patience time.Duration
	warn     func(message string, err error)
	warnings rate.Sometimes
}

// IsRedisURL reports whether NewRedis accepts a URL.
func IsRedisURL(url string) bool {
	_, err := redis.ParseURL(url)
	return err == nil
}

// NewRedis returns the Redis at a URL (redis:// or, with TLS, rediss://). It sends nothing yet.
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
	client := redis.NewClient(options)
	return &Redis{
		client: client, limiter: redis_rate.NewLimiter(client), patience: patience, warn: warn, warnings: rate.Sometimes{Interval: warningPause},
		breaker: gobreaker.NewCircuitBreaker[Verdict](gobreaker.Settings{
			Timeout:     redisPause,
			ReadyToTrip: func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures > 0 },
			IsExcluded:  func(err error) bool { return errors.Is(err, errCaller) },
		}),
	}, nil
}

var errURL = errors.New("the address of Redis cannot be read")

// errCaller marks a failure because the caller's time is over, which says nothing about Redis.
var errCaller = errors.New("the caller waits no longer")

// take counts a request in a bucket. It fails if Redis does, or did a moment ago.
func (r *Redis) take(ctx context.Context, key string, policy Policy) (Verdict, error) {
	return r.breaker.Execute(func() (Verdict, error) {
		limited, cancel := context.WithTimeout(ctx, r.patience)
		defer cancel()
		result, err := r.limiter.Allow(limited, key, redis_rate.Limit{Rate: policy.Requests, Burst: policy.Requests, Period: policy.Period})
		switch {
		case err == nil:
			return Verdict{Allowed: result.Allowed > 0, Remaining: result.Remaining, Full: result.ResetAfter, Wait: max(0, result.RetryAfter)}, nil
		case ctx.Err() != nil:
			err = fmt.Errorf("%w: %w", errCaller, err)
		default:
			r.warnings.Do(func() { r.warn("doing without Redis for a while", err) })
		}
		return Verdict{}, err
	})
}
