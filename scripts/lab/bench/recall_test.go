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

func TestFiltersAreTheClosestThereAre(t *testing.T) {
	t.Parallel()
	s := shares{projects: map[int64]float64{1: 0.6, 2: 0.2, 3: 0.12, 4: 0.08, 5: 0.0001}, statuses: map[string]float64{"Open": 0.011}, single: 5}
	got := map[string]filter{}
	for _, f := range s.filters() {
		got[f.name] = f
	}
	if got["project of 50%"].project != 1 || got["project of 10%"].project != 3 || got["status of 1%"].status != "Open" || got["project of one ticket"].project != 5 {
		t.Errorf("chose %+v", got)
	}
	if _, there := got["project of 1%"]; there {
		t.Error("a project of 8% passes for one of 1%")
	}
}

func TestTheOwnClusterIsLeftOut(t *testing.T) {
	t.Parallel()
	s := shares{projects: map[int64]float64{1: 0.1, 2: 0.11, 3: 0.12}}
	truth := []source{{project: 1, ticket: 9}}
	if f := s.elsewhere(filter{share: 0.1, outside: true}, Probe{}, truth); f.project != 2 || f.share != 0.11 {
		t.Errorf("with the nearest in project 1: %+v", f)
	}
	if f := s.elsewhere(filter{share: 0.1, outside: true}, Probe{Outside: func(p int64) bool { return p == 3 }}, truth); f.project != 3 {
		t.Errorf("where only project 3 is not about it: %+v", f)
	}
	if f := s.elsewhere(filter{share: 0.001, outside: true}, Probe{}, truth); f.project != 0 {
		t.Errorf("where there is none: %+v", f)
	}
}

func TestTheSameTopHit(t *testing.T) {
	t.Parallel()
	a, b, equal := scored{"A", 2}, scored{"B", 1}, scored{"C", 2}
	for name, test := range map[string]struct {
		ours, all []scored
		want      bool
	}{
		"the same":          {[]scored{a, b}, []scored{a}, true},
		"another":           {[]scored{b, a}, []scored{a, b}, false},
		"one as good":       {[]scored{equal}, []scored{a}, true},
		"none where one is": {nil, []scored{a}, false},
		"none at all":       {nil, nil, true},
	} {
		if got := sameTop(test.ours, test.all); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
