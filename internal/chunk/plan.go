package chunk

import "sort"

const (
	// target is the size that a chunk is planned for at most, in tokens. It
	// leaves room up to Max, to reach a good place, and gives a text of one
	// token too many two halves.
	target = 425
	// overlapTarget is the overlap that is planned for.
	overlapTarget = (MinOverlap + MaxOverlap) / 2
	// Part of a text measured alone has a few tokens more or less than it has
	// in the whole, because the tokens at its ends differ. A plan keeps this
	// far from the limits, so that measuring it seldom proves it wrong.
	margin        = 10
	overlapMargin = 5
	// lastMin is the least that is left for the chunk after, which may be the
	// last and so have no choice of its end.
	lastMin = Min + 25
	// attempts bounds how often a place is looked for anew when measuring
	// proves a plan wrong.
	attempts = 3
	// workFactor bounds the bytes given to the tokenizer, in lengths of the
	// text. Measuring the text, the chunks (each byte lies in at most two) and
	// the overlaps (in at most one) fits in it; more attempts may not, and are
	// then not made.
	workFactor = 4
)

// splitter holds one text and what is known of it.
type splitter struct {
	tokenizer Tokenizer
	text      string
	tokens    []int // where each token of the text ends, in bytes
	places    places
	budget    int // bytes that the tokenizer may still be given
}

// measure makes a splitter of text with its tokens known.
func measure(tokenizer Tokenizer, text string) *splitter {
	s := &splitter{tokenizer: tokenizer, text: text, budget: (workFactor - 1) * len(text)}
	s.tokens = tokenizer.Lengths(text)
	end := 0
	for i, length := range s.tokens {
		end += length
		s.tokens[i] = end
	}
	return s
}

// end returns where the chunk that begins at byte start ends, and its tokens.
func (s *splitter) end(start int) (end, tokens int) {
	first := s.at(start)
	rest := len(s.tokens) - first
	if rest <= Max-margin {
		// Less than the target could not be halved into chunks of Min.
		if tokens = s.count(start, len(s.text)); tokens <= Max || rest < target {
			return len(s.text), tokens
		}
	}
	// The chunks that the rest needs, at least two, share it evenly.
	count := max(2, (rest-overlapTarget+target-overlapTarget-1)/(target-overlapTarget))
	even := (rest + (count-1)*overlapTarget) / count
	return s.settle(window{
		low: first + Min + margin, ideal: first + even, high: first + min(Max-margin, rest+MinOverlap-lastMin),
		ranks: s.places.ends,
		least: Min, most: Max,
		count: func(at int) int { return s.count(start, at) },
	})
}

// overlap returns where the chunk begins that follows one ending at byte end.
func (s *splitter) overlap(end int) int {
	if end == len(s.text) {
		return end
	}
	last := s.at(end)
	start, _ := s.settle(window{
		low: last - MaxOverlap + overlapMargin, ideal: last - overlapTarget, high: last - MinOverlap - overlapMargin,
		ranks: s.places.starts,
		least: MinOverlap, most: MaxOverlap,
		count: func(at int) int { return s.count(at, end) },
	})
	return start
}

// window is where a place is looked for and what makes it right.
type window struct {
	low, ideal, high int    // numbers of tokens of the text up to the place
	ranks            []rank // by byte offset
	least, most      int    // the bounds of count
	count            func(at int) int
}

// settle returns the best place of a window, in bytes, and its count. Where
// measuring proves the best place wrong the window is narrowed around the
// ideal, which has the most room for error on both sides; what the last attempt
// finds stands.
func (s *splitter) settle(w window) (at, count int) {
	for range attempts {
		at = s.best(w)
		count = w.count(at)
		if w.least <= count && count <= w.most {
			break
		}
		w.low, w.high = w.ideal-(w.ideal-w.low)/4, w.ideal+(w.high-w.ideal)/4
	}
	return at, count
}

// best returns the place of the highest rank in a window, of equals the one
// nearest to the ideal, in bytes.
func (s *splitter) best(w window) int {
	low, ideal, high := s.tokens[w.low-1], s.tokens[w.ideal-1], s.tokens[w.high-1]
	// A token may end inside a character, which then may fill the window.
	for low > 0 && w.ranks[low] == inside {
		low--
	}
	best, distance := low, ideal-low
	for at := low; at <= high; at++ {
		d := max(at-ideal, ideal-at)
		if w.ranks[at] > w.ranks[best] || w.ranks[at] == w.ranks[best] && d < distance {
			best, distance = at, d
		}
	}
	return best
}

// at returns the number of tokens of the text that end at or before a byte.
func (s *splitter) at(offset int) int {
	return sort.SearchInts(s.tokens, offset+1)
}

// count returns the tokens of a part of the text, measured alone while the
// budget lasts and else taken from the whole.
func (s *splitter) count(start, end int) int {
	size := end - start
	if size > s.budget {
		return s.at(end) - s.at(start)
	}
	s.budget -= size
	return len(s.tokenizer.Lengths(s.text[start:end]))
}
