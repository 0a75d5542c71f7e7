package memo

import (
	"math"
	"time"

	"github.com/maypok86/otter/v2"
)

// entryBytes is the approximate overhead of an entry.
const entryBytes = 200

// Memory is a store in this process. Values must not be modified after Set or Get. It evicts by
// W-TinyLFU, which keeps frequently used entries.
type Memory struct {
	entries *otter.Cache[string, entry]
}

type entry struct {
	value    []byte
	lifetime time.Duration
}

// NewMemory returns a store of at most maxBytes, including keys and overhead.
func NewMemory(maxBytes uint64) *Memory {
	return &Memory{otter.Must(&otter.Options[string, entry]{
		MaximumWeight: maxBytes,
		Weigher: func(key string, e entry) uint32 {
			return uint32(min(len(key)+len(e.value)+entryBytes, math.MaxUint32))
		},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, entry]) time.Duration { return e.Value.lifetime }),
	})}
}

// Get returns the value of a key.
func (m *Memory) Get(key string) ([]byte, bool) {
	e, found := m.entries.GetIfPresent(key)
	return e.value, found
}

// Set stores a value until its lifetime is over or it is evicted.
func (m *Memory) Set(key string, value []byte, lifetime time.Duration) {
	m.entries.Set(key, entry{value, lifetime})
}
