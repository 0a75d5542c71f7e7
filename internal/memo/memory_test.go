package memo

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func newMemory(t *testing.T, bytes int64) *Memory {
	t.Helper()
	m, err := NewMemory(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func expect(t *testing.T, m *Memory, key, want string) {
	t.Helper()
	if value, found := m.Get(t.Context(), key); string(value) != want || found != (want != "") {
		t.Errorf("%s is %q (%t), want %q", key, value, found, want)
	}
}

func TestMemoryReturnsWhatWasSet(t *testing.T) {
	t.Parallel()
	m := newMemory(t, 1<<20)
	expect(t, m, "a", "")
	m.Set(t.Context(), "a", []byte("1"), time.Hour)
	m.Set(t.Context(), "b", []byte{0, 255, '\n'}, time.Hour)
	expect(t, m, "a", "1")
	expect(t, m, "b", "\x00\xff\n")
	m.Set(t.Context(), "a", []byte("2"), time.Hour)
	expect(t, m, "a", "2")
	expect(t, m, "c", "")
}

func TestMemoryExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, 1<<20)
		defer m.entries.StopAllGoroutines()
		m.Set(t.Context(), "short", []byte("1"), time.Minute)
		m.Set(t.Context(), "long", []byte("2"), time.Hour)
		time.Sleep(5 * time.Minute)
		expect(t, m, "short", "")
		expect(t, m, "long", "2")
	})
}

// The size stays bounded however much is stored, and however large the values.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 1 << 20
	m := newMemory(t, bound)
	key := func(i int) string { return fmt.Sprintf("key %d", i) }
	for i := range 500 {
		m.Set(t.Context(), key(i), bytes.Repeat([]byte{'x'}, 20_000), time.Hour)
	}
	m.Set(t.Context(), "too large", make([]byte, 2*bound), time.Hour)
	held := func() (sum int) {
		for i := range 500 {
			value, _ := m.Get(t.Context(), key(i))
			sum += len(value)
		}
		value, _ := m.Get(t.Context(), "too large")
		return sum + len(value)
	}
	// Eviction runs in the background.
	end := time.Now().Add(10 * time.Second)
	for held() > bound && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
	if sum := held(); sum > bound || sum == 0 {
		t.Errorf("%d bytes are kept, want some and at most %d", sum, bound)
	}
}
