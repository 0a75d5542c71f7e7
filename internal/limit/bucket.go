package limit

import (
	"sync"
	"time"
)

// maxBuckets bounds the memory: some 100 bytes each, twice.
const maxBuckets = 50_000

// buckets are those of this process. A bucket that was not touched for a period is full, and as good as none: so they are
// kept in two generations, and the older one is forgotten when the younger is a period old, or has no more room. Then those
// are forgotten first that ask least.
type buckets struct {
	most  int
	mutex sync.Mutex
	young map[string]time.Time // when each is full
	old   map[string]time.Time
	since time.Time // of the young
}

func newBuckets(most int) *buckets { return &buckets{most: most, young: map[string]time.Time{}} }

func (b *buckets) take(policy Policy, key string, now time.Time) Verdict {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if now.Sub(b.since) > policy.capacity() || len(b.young) >= b.most {
		b.old, b.young, b.since = b.young, map[string]time.Time{}, now
	}
	full, known := b.young[key]
	if !known {
		full = b.old[key]
	}
	verdict, full := policy.judge(full, now)
	b.young[key] = full
	return verdict
}
