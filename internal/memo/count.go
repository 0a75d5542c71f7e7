package memo

import (
	"maps"
	"sync"
)

// Counts say how often requests of a kind were answered from where, since the program began.
type Counts struct {
	Hits   int64 // made earlier
	Stale  int64 // those of the hits whose version was not read for the request
	Misses int64 // made for the request
	Shared int64 // made for another request of the same moment
}

type counters struct {
	mutex  sync.Mutex
	byKind map[string]Counts
}

func (c *counters) add(kind string, origin Origin, stale bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byKind == nil {
		c.byKind = map[string]Counts{}
	}
	counts := c.byKind[kind]
	switch origin {
	case Hit:
		counts.Hits++
		if stale {
			counts.Stale++
		}
	case Shared:
		counts.Shared++
	default:
		counts.Misses++
	}
	c.byKind[kind] = counts
}

// all is a copy.
func (c *counters) all() map[string]Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.byKind)
}

// Counts tells the requests so far, by kind.
func (m *Memo) Counts() map[string]Counts {
	return m.counts.all()
}
