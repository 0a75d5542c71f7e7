package querylog

import (
	"cmp"
	"slices"

	"tasklens/internal/fault"
)

// tie is the difference below which two cosines count as equal. Re-embedding the same text after a
// rename moves them as much.
const tie = 0.01

// flag sets the flags that follow from sources and similarities. low is the answer's own verdict of
// low similarity.
func (e *Entry) flag(low bool, usual float64, err error) {
	if err != nil {
		e.Outcome, e.Error = Failed, string(fault.CodeOf(err))
		return
	}
	similar := slices.ContainsFunc(e.Sources, func(s Source) bool { return s.Similarity != nil && *s.Similarity > usual })
	e.LowSimilarity = low || !similar
	e.Ambiguous = ambiguous(e.Sources)
}

// ambiguous reports a tie between projects: the question may have meant either.
func ambiguous(sources []Source) bool {
	var compared []Source
	for _, s := range sources {
		if s.Similarity != nil {
			compared = append(compared, s)
		}
	}
	slices.SortStableFunc(compared, func(a, b Source) int { return cmp.Compare(*b.Similarity, *a.Similarity) })
	// A document belongs to no project, so it cannot tie.
	return len(compared) > 1 && compared[0].ProjectID*compared[1].ProjectID != 0 && compared[0].ProjectID != compared[1].ProjectID && *compared[0].Similarity-*compared[1].Similarity <= tie
}
