// Package limit limits the rate of callers: a bucket for each, in Redis if there is one, otherwise
// in each instance. It never fails: while Redis does, each instance counts on its own. It does not
// know who callers are.
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

// interval is the cost of one request as time, rounded up, so that the rate never exceeds the
// limit.
func (p Policy) interval() time.Duration {
	each := time.Duration(p.Requests)
	return (p.Period + each - 1) / each
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

// judge decides on a request. full is the time until the bucket is full, negative if it is. Under
// the generic cell rate algorithm (ITU-T I.371), which Redis computes too, that is the bucket's
// whole state.
func (p Policy) judge(full time.Duration) Verdict {
	full = max(full, 0)
	after := full + p.interval()
	if late := after - p.capacity(); late > 0 {
		return Verdict{Full: full, Wait: late}
	}
	return Verdict{Allowed: true, Remaining: int((p.capacity() - after) / p.interval()), Full: after}
}

// Limiter keeps a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	policy Policy
	redis  *Redis                          // nil: there is only this process
	local  *otter.Cache[string, time.Time] // when each bucket will be full
	now    func() time.Time
}

// New returns a limiter. While Redis fails, each instance counts on its own.
func New(policy Policy, redis *Redis) *Limiter {
	return &Limiter{policy: policy, redis: redis, now: time.Now, local: otter.Must(&otter.Options[string, time.Time]{
		MaximumSize: maxBuckets, ExpiryCalculator: otter.ExpiryWriting[string, time.Time](policy.capacity()), // a full bucket need not be stored
	})}
}

// Policy returns the limiter's policy.
func (l *Limiter) Policy() Policy { return l.policy }

// Take counts a request of a caller. It never fails.
func (l *Limiter) Take(ctx context.Context, key string) (verdict Verdict) {
	if l.redis != nil {
		// The policy is part of the key, because the stored number is only valid under the same policy.
		name := fmt.Sprintf("tasklens:limit:%d/%v:%s", l.policy.Requests, l.policy.Period, key)
		if verdict, err := l.redis.take(ctx, name, l.policy); err == nil {
			return verdict
		}
	}
	now := l.now()
	l.local.Compute(key, func(full time.Time, _ bool) (time.Time, otter.ComputeOp) {
		verdict = l.policy.judge(full.Sub(now))
		return now.Add(verdict.Full), otter.WriteOp
	})
	return verdict
}
