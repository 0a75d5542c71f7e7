package memo

import (
	"maps"
	"sync"
)

// Counts are the requests of one kind by the origin of their result, since the program started.
type Counts struct {
	Hits   int64 // from the cache
	Misses int64 // computed for this request
	Shared int64 // computed for a concurrent request
}

type counters struct {
	mutex  sync.Mutex
	byKind map[string]Counts
}

func (c *counters) add(kind string, origin Origin) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byKind == nil {
		c.byKind = map[string]Counts{}
	}
	counts := c.byKind[kind]
	switch origin {
	case Hit:
		counts.Hits++
	case Shared:
		counts.Shared++
	default:
		counts.Misses++
	}
	c.byKind[kind] = counts
}

// all returns a copy.
func (c *counters) all() map[string]Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.byKind)
}

// Counts returns the counts so far, by kind.
func (m *Memo) Counts() map[string]Counts {
	return m.counts.all()
}
