package measure

import "slices"

// Cut is a threshold and what lies over it.
type Cut struct {
	Threshold float64
	Precision float64 // of what lies over it, were there as many strangers as matches: the share of matches
	Recall    float64 // share of the matches that lie over it
	Strangers float64 // share of the strangers that lie over it
}

// CutAt tells what lies strictly over a threshold, of values that should and of values that should not.
func CutAt(matches, strangers []float64, threshold float64) Cut {
	c := Cut{Threshold: threshold, Recall: shareOver(matches, threshold), Strangers: shareOver(strangers, threshold)}
	if c.Recall+c.Strangers > 0 {
		c.Precision = c.Recall / (c.Recall + c.Strangers)
	}
	return c
}

// CutFor gives the lowest threshold with at least a precision, among the values themselves; false where there is none.
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
