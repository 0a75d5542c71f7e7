package memo

import "testing"

// Store returns a small store, which ends with the test.
func Store(t *testing.T) *Memory {
	m := NewMemory(1 << 20)
	t.Cleanup(func() { m.entries.StopAllGoroutines() })
	return m
}
