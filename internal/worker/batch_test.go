package worker

import (
	"slices"
	"testing"
)

func TestFailedJobsAreRetriedInSmallerGroups(t *testing.T) {
	t.Parallel()
	var jobs []job
	for attempt, n := range map[int]int{1: 120, 2: 30, 3: 7, 4: 2, 9: 2} {
		for range n {
			jobs = append(jobs, job{Attempt: attempt})
		}
	}
	slices.SortFunc(jobs, func(a, b job) int { return a.Attempt - b.Attempt })
	var sizes []int
	for rest := jobs; len(rest) > 0; {
		var group []job
		group, rest = next(rest, 100)
		sizes = append(sizes, len(group))
	}
	if want := []int{100, 20, 25, 5, 6, 1, 1, 1, 1, 1}; !slices.Equal(sizes, want) {
		t.Errorf("the groups have %v jobs, want %v", sizes, want)
	}
}
