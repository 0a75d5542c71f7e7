package cache

import (
	"testing"
	"time"
)

// An operator is warned that Redis fails, but not for every request.
func TestWarningsAreRare(t *testing.T) {
	t.Parallel()
	warned := 0
	r, err := NewRedis("redis://127.0.0.1:1", time.Second, func(string, error) { warned++ })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	clock := time.Now()
	r.now = func() time.Time { return clock }
	for _, step := range []struct {
		later  time.Duration
		warned int
	}{{0, 1}, {2 * time.Second, 1}, {50 * time.Second, 1}, {20 * time.Second, 2}, {30 * time.Second, 2}, {time.Hour, 3}} {
		clock = clock.Add(step.later)
		if r.Get(t.Context(), "a"); warned != step.warned {
			t.Errorf("%v later there were %d warnings, want %d", step.later, warned, step.warned)
		}
	}
}
