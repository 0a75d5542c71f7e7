package bench

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestBoundsOfASoak(t *testing.T) {
	t.Parallel()
	samples := func(last time.Duration, err error) (all []sample) {
		for i := range 60 {
			all = append(all, sample{took: 100 * time.Millisecond})
			if i >= 50 {
				all[i].took = last
			}
		}
		all[30].err = err
		return all
	}
	_, broken := requests([]*stream{
		{name: "even", bounded: true, samples: samples(119*time.Millisecond, fmt.Errorf("one is %w", errNotFound))},
		{name: "slower", bounded: true, samples: samples(121*time.Millisecond, nil)},
		{name: "unbounded", samples: samples(time.Second, errors.New(`503: {"code": "unavailable"}`))},
	})
	if want := []string{"slower: p95 grew to 1.21 of the first, the bound is 1.2", "unbounded: 1 × 503: …"}; !slices.Equal(broken, want) {
		t.Errorf("of requests %q, want %q", broken, want)
	}
	readings := func(last, panics float64) (all []map[string]float64) {
		for i := range 12 {
			all = append(all, map[string]float64{"go_goroutines": 100})
			if i >= 10 {
				all[i]["go_goroutines"], all[i]["tasklens_panics_total"] = last, panics
			}
		}
		return all
	}
	if _, broken = resources(readings(140, 0)); len(broken) > 0 {
		t.Errorf("of resources %q, want none", broken)
	}
	if _, broken = resources(readings(100, 1)[10:]); !slices.Equal(broken, []string{"1 panics"}) {
		t.Errorf("of two readings %q, want the panic", broken)
	}
	_, broken = resources(readings(141, 2))
	if want := []string{"goroutines: 100.0 at first, 141.0 at last", "2 panics"}; !slices.Equal(broken, want) {
		t.Errorf("of resources %q, want %q", broken, want)
	}
	before := map[string]tableState{"a": {rows: 10_000, bytes: 1e7, indexes: 1e7}, "b": {rows: 10_000, bytes: 1e7}}
	after := map[string]tableState{
		"a": {rows: 20_000, dead: 6000, bytes: 3e7, indexes: 3e7}, "b": {rows: 10_000, dead: 3501, bytes: 1.6e7}, "new": {rows: 10_000, bytes: 1e9}, "small": {dead: 1e6},
	}
	_, broken = grown(before, after)
	if want := []string{"b grew to 1.60 of its size, the bound is 1.5", "b has 3501 dead rows beside 10000"}; !slices.Equal(broken, want) {
		t.Errorf("of tables %q, want %q", broken, want)
	}
}
