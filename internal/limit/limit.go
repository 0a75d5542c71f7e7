// Package limit is a rate limiter with a token bucket for each caller. It owns the arithmetic and
// the fallback when the shared store is unavailable. It does not know HTTP or who callers are: they
// are keys.
package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"
)

// maxBuckets bounds the memory of a flood of callers.
const maxBuckets = 100_000

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

// judge decides on requests that are allowed or refused together. full is the time until the bucket
// is full, negative if it is. Under the generic cell rate algorithm (ITU-T I.371) that is the
// bucket's whole state.
func (p Policy) judge(full time.Duration, requests int) Verdict {
	full = max(full, 0)
	after := full + p.interval()*time.Duration(requests)
	if late := after - p.capacity(); late > 0 {
		return Verdict{Full: full, Wait: late}
	}
	return Verdict{Allowed: true, Remaining: int((p.capacity() - after) / p.interval()), Full: after}
}

// Scripts runs a Lua script that returns numbers in the Redis that all instances share.
type Scripts interface {
	Run(ctx context.Context, script string, keys []string, arguments ...any) ([]int64, error)
}

// Limiter keeps a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	policy Policy
	shared Scripts                         // nil: there is only this process
	local  *otter.Cache[string, time.Time] // when each bucket will be full
	now    func() time.Time
}

// New returns a limiter. While shared fails, each instance counts on its own.
func New(policy Policy, shared Scripts) *Limiter {
	return &Limiter{policy: policy, shared: shared, now: time.Now, local: otter.Must(&otter.Options[string, time.Time]{
		MaximumSize: maxBuckets, ExpiryCalculator: otter.ExpiryWriting[string, time.Time](policy.capacity()), // a full bucket need not be stored
	})}
}

// Policy returns the limiter's policy.
func (l *Limiter) Policy() Policy { return l.policy }

// Take counts a request of a caller as this many, all or none. It never fails. More than the
// policy's Requests are never allowed.
func (l *Limiter) Take(ctx context.Context, key string, requests int) (verdict Verdict) {
	if l.shared != nil {
		if full, err := l.takeShared(ctx, key, requests); err == nil {
			return l.policy.judge(full, requests)
		}
	}
	now := l.now()
	l.local.Compute(key, func(full time.Time, _ bool) (time.Time, otter.ComputeOp) {
		verdict = l.policy.judge(full.Sub(now), requests)
		return now.Add(verdict.Full), otter.WriteOp
	})
	return verdict
}

// script is judge in Lua, run in Redis. It returns the time until the bucket was full before the
// request. It uses Redis's clock because the clocks of instances may differ. Times are in
// microseconds.
const script = `
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local cost, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) - now
if full + cost <= capacity then
  redis.call('SET', KEYS[1], now + full + cost, 'PX', math.ceil((full + cost) / 1000))
end
return {full}
`

// takeShared counts in Redis and returns the time until the bucket was full before.
func (l *Limiter) takeShared(ctx context.Context, key string, requests int) (full time.Duration, err error) {
	// The policy is part of the key, because the stored number is only valid under the same policy.
	name := fmt.Sprintf("tasklens:limit:%d/%d:%s", l.policy.Requests, l.policy.Period.Microseconds(), key)
	answer, err := l.shared.Run(ctx, script, []string{name}, l.policy.interval().Microseconds()*int64(requests), l.policy.capacity().Microseconds())
	if err == nil && len(answer) != 1 {
		err = fmt.Errorf("%d numbers came back", len(answer))
	}
	if err != nil {
		return 0, fmt.Errorf("count a request: %w", err)
	}
	return time.Duration(answer[0]) * time.Microsecond, nil
}
