package encoder

import (
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// blank stands for the blank before a word.
const blank = "▁"

// vocabulary finds pieces by their text.
type vocabulary struct {
	numbers map[string]int
	longest int // in characters
}

var known = sync.OnceValue(func() vocabulary {
	v := vocabulary{numbers: map[string]int{}}
	for i, piece := range model().Pieces {
		if i >= reserved {
			v.numbers[piece] = i
			v.longest = max(v.longest, len([]rune(piece)))
		}
	}
	return v
})

// reserved are the first numbers; the first of them stands for what no piece covers.
const reserved = 6

// longestText in bytes is more than Longest pieces have.
const longestText = 2000

// split returns the pieces of a text that are most probable together (the Viterbi algorithm on a
// unigram model: Kudo 2018), or nothing if no word is known. Runs of blanks count as one.
func (m *Model) split(text string) []int {
	v := known()
	text = strings.ToValidUTF8(text[:min(len(text), longestText)], "")
	text = blank + strings.Join(strings.Fields(norm.NFKC.String(text)), blank)
	starts := make([]int, 0, len(text)+1) // of characters
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	type step struct {
		score       float64
		from, piece int
	}
	best := make([]step, len(starts))
	for i := range best[1:] {
		best[i+1].score = math.Inf(-1)
	}
	for i := range starts[1:] {
		covered := false
		for end := i + 1; end <= min(i+v.longest, len(starts)-1); end++ {
			piece, ok := v.numbers[text[starts[i]:starts[end]]]
			if !ok {
				continue
			}
			covered = true
			if score := best[i].score + float64(m.Scores[piece]); score >= best[end].score {
				best[end] = step{score, i, piece}
			}
		}
		if !covered && best[i].score >= best[i+1].score {
			best[i+1] = step{best[i].score, i, 0}
		}
	}
	var pieces []int
	says := false
	for end := len(best) - 1; end > 0; end = best[end].from {
		piece := best[end].piece
		if piece == 0 && len(pieces) > 0 && pieces[len(pieces)-1] == 0 {
			continue // a run of unknown characters is one
		}
		says = says || piece != 0 && m.Pieces[piece] != blank
		pieces = append(pieces, piece)
	}
	if !says {
		return nil
	}
	slices.Reverse(pieces)
	return pieces
}
