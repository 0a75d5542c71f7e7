package limit

import (
	"sync"
	"time"
)

// maxBuckets bounds the memory: about 100 bytes per bucket, in two generations.
const maxBuckets = 50_000

// buckets are the buckets of this process. A bucket not used for a whole period is full and need
// not be stored. So buckets are kept in two generations, and the older one is dropped once the
// younger is a period old or full. When space runs out, this drops the least active callers first.
type buckets struct {
	most  int
	mutex sync.Mutex
	young map[string]time.Time // when each bucket will be full
	old   map[string]time.Time
	since time.Time // start of the young generation
}

func newBuckets(most int) *buckets { return &buckets{most: most, young: map[string]time.Time{}} }

func (b *buckets) take(policy Policy, key string, now time.Time, requests int) Verdict {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if now.Sub(b.since) > policy.capacity() || len(b.young) >= b.most {
		b.old, b.young, b.since = b.young, map[string]time.Time{}, now
	}
	full, known := b.young[key]
	if !known {
		full = b.old[key]
	}
	verdict, full := policy.judge(full, now, requests)
	b.young[key] = full
	return verdict
}
