// Package limit is a rate limiter with a token bucket for each caller. It owns the arithmetic and
// the fallback when the shared store is unavailable. It does not know HTTP or who callers are: they
// are keys.
package limit

import (
	"context"
	"fmt"
	"time"
)

// Policy is a rate limit: a burst of Requests, refilled evenly over each Period.
type Policy struct {
	Requests int
	Period   time.Duration
}

// interval is the cost of one request as time, in whole microseconds because Redis counts those. It
// is rounded up, so that the rate never exceeds the limit.
func (p Policy) interval() time.Duration {
	each := time.Duration(p.Requests) * time.Microsecond
	return (p.Period + each - 1) / each * time.Microsecond
}

// capacity is a full bucket as time. It equals the period if that divides evenly.
func (p Policy) capacity() time.Duration { return p.interval() * time.Duration(p.Requests) }

// Verdict is the decision on one request and the state of the bucket after it.
type Verdict struct {
	Allowed   bool
	Remaining int           // requests left in the burst
	Full      time.Duration // time until the bucket is full
	Wait      time.Duration // time until a request is allowed; 0 if this one is
}

// judge decides on requests that are allowed or refused together. full is when the bucket refills
// completely, a time in the past if it is full. Under the generic cell rate algorithm (ITU-T I.371)
// that timestamp is the bucket's whole state.
func (p Policy) judge(full, now time.Time, requests int) (Verdict, time.Time) {
	if full.Before(now) {
		full = now
	}
	after := full.Add(p.interval() * time.Duration(requests))
	if late := after.Sub(now) - p.capacity(); late > 0 {
		return Verdict{Full: full.Sub(now), Wait: late}, full
	}
	return p.allowed(after.Sub(now)), after
}

// allowed is the verdict on a request after which the bucket needs this long to be full.
func (p Policy) allowed(full time.Duration) Verdict {
	return Verdict{Allowed: true, Remaining: int((p.capacity() - full) / p.interval()), Full: full}
}

// Scripts runs a Lua script that returns numbers in the Redis that all instances share.
type Scripts interface {
	Run(ctx context.Context, script string, keys []string, arguments ...any) ([]int64, error)
}

// Limiter keeps a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	policy Policy
	shared Scripts // nil: there is only this process
	local  *buckets
	now    func() time.Time
}

// New returns a limiter. While shared fails, each instance counts on its own.
func New(policy Policy, shared Scripts) *Limiter {
	return &Limiter{policy: policy, shared: shared, local: newBuckets(maxBuckets), now: time.Now}
}

// Policy returns the limiter's policy.
func (l *Limiter) Policy() Policy { return l.policy }

// Take counts one request of a caller. It never fails.
func (l *Limiter) Take(ctx context.Context, key string) Verdict { return l.TakeMany(ctx, key, 1) }

// TakeMany counts one request of a caller as several, all or none. More than the policy's Requests
// are never allowed.
func (l *Limiter) TakeMany(ctx context.Context, key string, requests int) Verdict {
	if l.shared != nil {
		if verdict, err := l.takeShared(ctx, key, requests); err == nil {
			return verdict
		}
	}
	return l.local.take(l.policy, key, l.now(), requests)
}

// script is judge in Lua, run in Redis. It uses Redis's clock because the clocks of instances may
// differ. Times are in microseconds.
const script = `
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local cost, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = full + cost
if after - now > capacity then
  return {0, full - now, after - now - capacity}
end
redis.call('SET', KEYS[1], after, 'PX', math.ceil((after - now) / 1000))
return {1, after - now, 0}
`

func (l *Limiter) takeShared(ctx context.Context, key string, requests int) (Verdict, error) {
	// The policy is part of the key, because the stored number is only valid under the same policy.
	name := fmt.Sprintf("tasklens:limit:%d/%d:%s", l.policy.Requests, l.policy.Period.Microseconds(), key)
	answer, err := l.shared.Run(ctx, script, []string{name}, l.policy.interval().Microseconds()*int64(requests), l.policy.capacity().Microseconds())
	if err != nil {
		return Verdict{}, fmt.Errorf("count a request: %w", err)
	}
	if len(answer) != 3 {
		return Verdict{}, fmt.Errorf("count a request: %d numbers came back", len(answer))
	}
	full, wait := time.Duration(answer[1])*time.Microsecond, time.Duration(answer[2])*time.Microsecond
	if answer[0] == 0 {
		return Verdict{Full: full, Wait: wait}, nil
	}
	return l.policy.allowed(full), nil
}
