package limit

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tasklens/internal/testbed"
)

var policy = Policy{Requests: 3, Period: 3 * time.Second}

func TestBucketEmptiesAndRefills(t *testing.T) {
	t.Parallel()
	clock, l := clocked(policy)
	for i, step := range []struct {
		later time.Duration
		want  Verdict
	}{
		{0, Verdict{Allowed: true, Remaining: 2, Full: time.Second}},
		{0, Verdict{Allowed: true, Remaining: 1, Full: 2 * time.Second}},
		{0, Verdict{Allowed: true, Remaining: 0, Full: 3 * time.Second}},
		{0, Verdict{Full: 3 * time.Second, Wait: time.Second}},
		{400 * time.Millisecond, Verdict{Full: 2600 * time.Millisecond, Wait: 600 * time.Millisecond}}, // a rejected request costs nothing
		{600 * time.Millisecond, Verdict{Allowed: true, Remaining: 0, Full: 3 * time.Second}},
		{2 * time.Second, Verdict{Allowed: true, Remaining: 1, Full: 2 * time.Second}},
		{time.Hour, Verdict{Allowed: true, Remaining: 2, Full: time.Second}},
	} {
		*clock = clock.Add(step.later)
		if got := l.Take(t.Context(), "a"); got != step.want {
			t.Errorf("step %d: %+v, want %+v", i, got, step.want)
		}
	}
	if got := l.Take(t.Context(), "b"); got.Remaining != 2 {
		t.Errorf("another caller has %+v", got)
	}
}

// clocked returns a limiter without Redis whose clock the test sets.
func clocked(p Policy) (*time.Time, *Limiter) {
	clock := time.Now()
	l := New(p, nil)
	l.now = func() time.Time { return clock }
	return &clock, l
}

// bucket is a clocked limiter for one caller.
func bucket(p Policy) (now *time.Time, take func() Verdict) {
	now, l := clocked(p)
	return now, func() Verdict { return l.Take(context.Background(), "a") }
}

// A period that does not divide evenly never allows an extra request, in a burst or later.
func TestAnUnevenPeriodAllowsNoMore(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{
		{Requests: 3, Period: time.Second},                      // a third is not a whole number of microseconds
		{Requests: 600, Period: 359_999_999 * time.Microsecond}, // with a remainder of 599
	} {
		_, take := bucket(p)
		for range p.Requests {
			if verdict := take(); !verdict.Allowed {
				t.Errorf("%+v: %+v", p, verdict)
			}
		}
		if verdict := take(); verdict.Allowed || verdict.Wait*time.Duration(p.Requests) < p.Period {
			t.Errorf("%+v: after those, %+v", p, verdict)
		}
	}
}

// Whatever the pattern of requests, no more than a full bucket plus its refill is allowed.
func TestNoMoreIsAllowed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{Requests: rapid.IntRange(1, 50).Draw(t, "requests"), Period: time.Duration(rapid.IntRange(1, 5000).Draw(t, "period")) * time.Minute}
		now, take := bucket(p)
		start, allowed := *now, 0
		for _, pause := range rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 50).Draw(t, "pauses") {
			*now = now.Add(time.Duration(pause) * time.Minute)
			verdict := take()
			if verdict.Allowed {
				allowed++
			} else {
				*now = now.Add(verdict.Wait)
				if again := take(); !again.Allowed {
					t.Fatalf("%+v, and after that %+v", verdict, again)
				}
				allowed++
			}
			if most := p.Requests + int(now.Sub(start)/p.interval()); allowed > most {
				t.Fatalf("%d were allowed, and no more than %d may be", allowed, most)
			}
			if verdict.Remaining < 0 || verdict.Remaining >= p.Requests || verdict.Full < 0 || verdict.Full > p.capacity() {
				t.Fatalf("%+v", verdict)
			}
		}
	})
}

func connect(t *testing.T, redisURL string) *Redis {
	t.Helper()
	store, err := NewRedis(redisURL, 5*time.Second, func(string, error) {})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func instances(t *testing.T) (one, two *Limiter, kill func()) {
	t.Helper()
	url, process := testbed.Redis(t)
	limiter := func() *Limiter { return New(Policy{Requests: 10, Period: 10 * time.Hour}, connect(t, url)) }
	return limiter(), limiter(), func() { _ = process.Kill() }
}

// Instances share one count, and each counts on its own while Redis is down.
func TestInstancesShareBuckets(t *testing.T) {
	t.Parallel()
	one, two, kill := instances(t)
	var mutex sync.Mutex
	var running sync.WaitGroup
	allowed := 0
	for _, l := range []*Limiter{one, two} {
		for range 15 {
			running.Go(func() {
				if l.Take(t.Context(), "a").Allowed {
					mutex.Lock()
					allowed++
					mutex.Unlock()
				}
			})
		}
	}
	running.Wait()
	if allowed != 10 {
		t.Errorf("%d were allowed", allowed)
	}
	refused := two.Take(t.Context(), "a")
	if refused.Allowed || refused.Wait <= 59*time.Minute || refused.Wait > time.Hour || refused.Full <= 9*time.Hour || refused.Full > 10*time.Hour {
		t.Errorf("it is %+v", refused)
	}
	if got := two.Take(t.Context(), "b"); !got.Allowed || got.Remaining != 9 || got.Full != time.Hour {
		t.Errorf("another caller has %+v", got)
	}
	kill()
	for i := range 11 {
		if got := two.Take(t.Context(), "a"); got.Allowed != (i < 10) {
			t.Errorf("without Redis, request %d: %+v", i, got)
		}
	}
}

// Redis and the process agree at every request.
func TestRedisAgreesWithJudge(t *testing.T) {
	t.Parallel()
	url, _ := testbed.Redis(t)
	p := Policy{Requests: 5, Period: 5 * time.Hour}
	l := New(p, connect(t, url))
	_, take := bucket(p)
	for i := range 8 {
		got, want := l.Take(t.Context(), "a"), take()
		if got.Allowed != want.Allowed || got.Remaining != want.Remaining || (got.Full-want.Full).Abs() > 30*time.Second || (got.Wait-want.Wait).Abs() > 30*time.Second {
			t.Errorf("request %d: Redis says %+v, we %+v", i, got, want)
		}
	}
}

// A flood of callers takes no more memory than its bound.
func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	_, l := clocked(policy)
	for i := range maxBuckets + maxBuckets/10 {
		l.Take(t.Context(), fmt.Sprint(i))
	}
	l.local.CleanUp()
	if kept := l.local.EstimatedSize(); kept > maxBuckets || kept == 0 {
		t.Errorf("%d buckets are kept of at most %d", kept, maxBuckets)
	}
}
