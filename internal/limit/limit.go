// Package limit says who asks too often. It owns the arithmetic of a token bucket for each caller, and what happens when
// the place where copies of the service share them is away. It must not know HTTP, nor who callers are: they are keys.
package limit

import (
	"context"
	"fmt"
	"time"
)

// Policy is how often a caller may ask: so many requests at once, and as many again evenly over each period.
type Policy struct {
	Requests int
	Period   time.Duration
}

// interval is what one request takes of a full bucket, in time: whole microseconds, as Redis counts them, and rather one more
// than that more flows in than may.
func (p Policy) interval() time.Duration {
	each := time.Duration(p.Requests) * time.Microsecond
	return (p.Period + each - 1) / each * time.Microsecond
}

// capacity is what a full bucket holds, in time. It is the period where that divides evenly.
func (p Policy) capacity() time.Duration { return p.interval() * time.Duration(p.Requests) }

// Verdict is what becomes of one request, and what is left for the next.
type Verdict struct {
	Allowed   bool
	Remaining int           // requests that may follow at once
	Full      time.Duration // after which as many may as ever
	Wait      time.Duration // after which one is allowed; 0 where this one is
}

// judge says what becomes of a request. full is when the caller's bucket will have filled up if nothing more is asked, in
// the past for one that is full: all there is to know of a bucket, by the generic cell rate algorithm (ITU-T I.371).
func (p Policy) judge(full, now time.Time) (Verdict, time.Time) {
	if full.Before(now) {
		full = now
	}
	after := full.Add(p.interval())
	if late := after.Sub(now) - p.capacity(); late > 0 {
		return Verdict{Full: full.Sub(now), Wait: late}, full
	}
	return p.allowed(after.Sub(now)), after
}

// allowed is the verdict on a request after which the bucket is full in so much time.
func (p Policy) allowed(full time.Duration) Verdict {
	return Verdict{Allowed: true, Remaining: int((p.capacity() - full) / p.interval()), Full: full}
}

// Scripts runs scripts where all copies of the service keep what they share: in Redis. One that returns numbers.
type Scripts interface {
	Run(ctx context.Context, script string, keys []string, arguments ...any) ([]int64, error)
}

// Limiter keeps a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	policy Policy
	shared Scripts // nil: this process is alone
	local  *buckets
	now    func() time.Time
}

// New makes a limiter. Where shared fails, each copy counts for itself until it is back.
func New(policy Policy, shared Scripts) *Limiter {
	return &Limiter{policy: policy, shared: shared, local: newBuckets(maxBuckets), now: time.Now}
}

// Policy is what the limiter holds callers to.
func (l *Limiter) Policy() Policy { return l.policy }

// Take counts a request of a caller's. It never fails.
func (l *Limiter) Take(ctx context.Context, key string) Verdict {
	if l.shared != nil {
		if verdict, err := l.takeShared(ctx, key); err == nil {
			return verdict
		}
	}
	return l.local.take(l.policy, key, l.now())
}

// script is judge, where the bucket is: by Redis's own clock, so that copies whose clocks differ agree. Times are in
// microseconds.
const script = `
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local interval, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = full + interval
if after - now > capacity then
  return {0, full - now, after - now - capacity}
end
redis.call('SET', KEYS[1], after, 'PX', math.ceil((after - now) / 1000))
return {1, after - now, 0}
`

func (l *Limiter) takeShared(ctx context.Context, key string) (Verdict, error) {
	// The policy is part of the key: under another one the number means something else.
	name := fmt.Sprintf("tasklens:limit:%d/%d:%s", l.policy.Requests, l.policy.Period.Microseconds(), key)
	answer, err := l.shared.Run(ctx, script, []string{name}, l.policy.interval().Microseconds(), l.policy.capacity().Microseconds())
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
