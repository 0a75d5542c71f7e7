package memo

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func expect(t *testing.T, m *Memory, key, want string) {
	t.Helper()
	if value, found := m.Get(key); string(value) != want || found != (want != "") {
		t.Errorf("%s is %q (%t), want %q", key, value, found, want)
	}
}

func TestMemoryExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := Store(t)
		m.Set("short", []byte("1"), time.Minute)
		m.Set("long", []byte("2"), time.Hour)
		time.Sleep(5 * time.Minute)
		expect(t, m, "short", "")
		expect(t, m, "long", "2")
	})
}

// The size stays bounded however much is stored, and however large the values.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 1 << 20
	m := NewMemory(bound)
	key := func(i int) string { return fmt.Sprintf("key %d", i) }
	for i := range 500 {
		m.Set(key(i), bytes.Repeat([]byte{'x'}, 20_000), time.Hour)
	}
	m.Set("too large", make([]byte, 2*bound), time.Hour)
	held := func() (sum int) {
		for i := range 500 {
			value, _ := m.Get(key(i))
			sum += len(value)
		}
		value, _ := m.Get("too large")
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
