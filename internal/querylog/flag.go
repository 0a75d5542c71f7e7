package querylog

import (
	"cmp"
	"slices"

	"tasklens/internal/fault"
)

// tie is how near two cosines lie between which there is no better one: re-embedding the same words after a rename moves
// them as far.
const tie = 0.01

// flag says what a look at sources and similarities tells, or that there was none. low: the answer says so itself.
func (e *Entry) flag(low bool, usual float64, err error) {
	if err != nil {
		e.Outcome, e.Error = Failed, string(fault.CodeOf(err))
		return
	}
	similar := slices.ContainsFunc(e.Sources, func(s Source) bool { return s.Similarity != nil && *s.Similarity > usual })
	e.LowSimilarity = low || !similar
	e.Ambiguous = ambiguous(e.Sources)
}

// ambiguous looks at the two most similar sources: at a tie between projects nobody knows which was meant.
func ambiguous(sources []Source) bool {
	var compared []Source
	for _, s := range sources {
		if s.Similarity != nil {
			compared = append(compared, s)
		}
	}
	slices.SortStableFunc(compared, func(a, b Source) int { return cmp.Compare(*b.Similarity, *a.Similarity) })
	// A document is in no project, and ties with none.
	return len(compared) > 1 && compared[0].ProjectID*compared[1].ProjectID != 0 && compared[0].ProjectID != compared[1].ProjectID && *compared[0].Similarity-*compared[1].Similarity <= tie
}
