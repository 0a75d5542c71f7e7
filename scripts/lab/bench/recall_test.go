package bench

import (
	"math"
	"testing"
)

// ranked returns twelve tickets of two projects by distance; the tenth and eleventh are equally
// near.
func ranked() (truth []source) {
	for i := range 12 {
		s := source{project: int64(1 + i%2), ticket: int64(i + 1), status: "Open", distance: float64(i) / 10}
		if i == 10 {
			s.distance = 0.9
		}
		truth = append(truth, s)
	}
	return truth
}

func ids(tickets ...int64) (out []sourceID) {
	for _, t := range tickets {
		out = append(out, sourceID{2 - t%2, t})
	}
	return out
}

func TestRecallCountsTheTrueNeighbours(t *testing.T) {
	t.Parallel()
	truth := ranked()
	for name, test := range map[string]struct {
		got    []sourceID
		filter filter
		want   float64
	}{
		"all":                            {ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), filter{}, 1},
		"an equal instead":               {ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 11), filter{}, 1},
		"a farther one instead":          {ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 12), filter{}, 0.9},
		"one twice":                      {ids(1, 1, 3, 4, 5, 6, 7, 8, 9, 10), filter{}, 0.9},
		"too few":                        {ids(1, 2), filter{}, 0.2},
		"none":                           {nil, filter{}, 0},
		"few there are":                  {ids(1, 3, 5, 7, 9, 11), filter{project: 1}, 1},
		"half of the few":                {ids(1, 3, 5), filter{project: 1}, 0.5},
		"what the filter should prevent": {ids(1, 2, 3, 4, 5, 6), filter{project: 1}, 0.5},
	} {
		if got := recallOf(test.got, truth, nearest(truth, test.filter), test.filter); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: recall %v, want %v", name, got, test.want)
		}
	}
	if len(nearest(truth, filter{status: "Done"})) != 0 {
		t.Error("a status that none has let some through")
	}
}
