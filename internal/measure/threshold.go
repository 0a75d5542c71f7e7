package measure

import "slices"

// Cut is a threshold and its quality.
type Cut struct {
	Threshold float64
	Precision float64 // share of matches among the values above it, if strangers were as many as matches
	Recall    float64 // share of the matches above it
	Strangers float64 // share of the strangers above it
}

// CutAt measures a threshold by the values strictly above it. matches should be above it, strangers
// below.
func CutAt(matches, strangers []float64, threshold float64) Cut {
	c := Cut{Threshold: threshold, Recall: shareOver(matches, threshold), Strangers: shareOver(strangers, threshold)}
	if c.Recall+c.Strangers > 0 {
		c.Precision = c.Recall / (c.Recall + c.Strangers)
	}
	return c
}

// CutFor returns the lowest value that, as a threshold, has at least this precision; false if there
// is none.
func CutFor(matches, strangers []float64, precision float64) (Cut, bool) {
	all := slices.Concat(matches, strangers)
	slices.Sort(all)
	for _, threshold := range slices.Compact(all) {
		if c := CutAt(matches, strangers, threshold); c.Recall > 0 && c.Precision >= precision {
			return c, true
		}
	}
	return Cut{}, false
}

func shareOver(values []float64, threshold float64) float64 {
	if len(values) == 0 {
		return 0
	}
	over := 0
	for _, value := range values {
		if value > threshold {
			over++
		}
	}
	return float64(over) / float64(len(values))
}
