package index

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"tasklens/internal/fault"
)

var errBad = errors.New("a bad row")

// rows accepts a limited number of items per call, all or none of them.
type rows struct {
	most, least int // most: above it a call is too slow; least: so many of a portion are done at once (0: all)
	bad         []int
	slow        []int // even on their own
	calls       int
	stored      []int
}

func (d *rows) take(part []int) (int, error) {
	d.calls++
	for _, item := range part {
		if slices.Contains(d.bad, item) {
			return 0, errBad
		}
		if slices.Contains(d.slow, item) {
			return 0, fault.New(fault.Timeout, "Too slow.")
		}
	}
	if len(part) > d.most {
		return 0, fault.New(fault.TooLarge, "Too large.")
	}
	if d.least > 0 {
		part = part[:min(d.least, len(part))]
	}
	d.stored = append(d.stored, part...)
	return len(part), nil
}

func TestInBatches(t *testing.T) {
	t.Parallel()
	items := make([]int, 100)
	for i := range items {
		items[i] = i
	}
	for _, c := range []struct {
		name    string
		db      rows
		skipped []int
		calls   int // at most
	}{
		{"all in one call", rows{most: 100}, nil, 1},
		{"part of each call stored", rows{most: 100, least: 30}, nil, 4},
		{"halved", rows{most: 30}, nil, 6},
		{"one item per call", rows{most: 1}, nil, 7 + 100},
		{"no item accepted", rows{most: 0}, items, 7 + 100},
		{"one slow item", rows{most: 100, slow: []int{40}}, []int{40}, 20},
		{"two bad items", rows{most: 100, bad: []int{0, 99}}, []int{0, 99}, 30},
		{"two pairs of adjacent slow items", rows{most: 100, slow: []int{10, 11, 13, 14}}, []int{10, 11, 13, 14}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var skipped []int
				err := InBatches(t.Context(), items, c.db.take, func(item int, err error) {
					if err == nil {
						t.Error("an item was skipped without an error")
					}
					skipped = append(skipped, item)
				})
				if err != nil || !slices.Equal(skipped, c.skipped) {
					t.Errorf("the error is %v, the skipped items are %d", err, skipped)
				}
				want := slices.DeleteFunc(slices.Clone(items), func(item int) bool { return slices.Contains(c.skipped, item) })
				if !slices.Equal(c.db.stored, want) {
					t.Errorf("the stored items are %d", c.db.stored)
				}
				if c.db.calls > c.calls {
					t.Errorf("%d calls, want %d at most", c.db.calls, c.calls)
				}
			})
		})
	}
}

func TestInBatchesEndsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		for _, code := range []fault.Code{fault.Unavailable, fault.Unauthorized, fault.Forbidden} {
			calls = 0
			err := InBatches(t.Context(), []int{1, 2, 3}, func([]int) (int, error) {
				calls++
				return 0, fault.New(code, "Gone.")
			}, func(int, error) { t.Error("an item was skipped") })
			if fault.CodeOf(err) != code || calls != 1 {
				t.Errorf("%s: an unreachable database was called %d times, want once: %v", code, calls, err)
			}
		}
		skipped := 0
		err := InBatches(t.Context(), make([]int, 10), func([]int) (int, error) {
			return 0, fault.New(fault.Timeout, "Slow.")
		}, func(int, error) { skipped++ })
		if fault.CodeOf(err) != fault.Unavailable || skipped != 3 {
			t.Errorf("with a database that always times out %d items were skipped, want 3: %v", skipped, err)
		}
		calls = 0
		err = InBatches(t.Context(), []int{1, 2, 3}, func([]int) (int, error) {
			calls++
			return 0, stop{errBad}
		}, func(int, error) { t.Error("an item was skipped") })
		if !errors.Is(err, errBad) || calls != 1 {
			t.Errorf("stop ended after %d calls with %v", calls, err)
		}
	})
}
