package chunk

import "sort"

const (
	// target is the maximum planned size of a chunk, in tokens. The room up to Max lets a chunk end
	// at a good place, and a text of Max+1 tokens splits into halves.
	target = 425
	// overlapTarget is the planned overlap.
	overlapTarget = (MinOverlap + MaxOverlap) / 2
	// A part counted on its own differs by a few tokens from its share of the whole, because the
	// tokens at its ends differ. Plans keep this distance from the limits, so that counting rarely
	// invalidates them.
	margin        = 10
	overlapMargin = 5
	// lastMin is the minimum left for the next chunk, which may be the last and so cannot choose
	// its end.
	lastMin = Min + 25
	// attempts bounds the searches for a place after counting has invalidated one.
	attempts = 3
	// workFactor bounds the bytes given to the tokenizer, as a multiple of the text's length.
	// Counting the text, the chunks (each byte is in at most two) and the overlaps (in at most one)
	// fits. Further attempts are skipped if they do not.
	workFactor = 4
)

// splitter holds a text and its token counts.
type splitter struct {
	tokenizer Tokenizer
	text      string
	tokens    []int // where each token of the text ends, in bytes
	places    places
	budget    int // bytes that the tokenizer may still get
}

// measure returns a splitter with the tokens of text.
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

// end returns where the chunk that starts at byte start ends, and its tokens.
func (s *splitter) end(start int) (end, tokens int) {
	first := s.at(start)
	rest := len(s.tokens) - first
	if rest <= Max-margin {
		// Less than target could not be split into chunks of Min.
		if tokens = s.count(start, len(s.text)); tokens <= Max || rest < target {
			return len(s.text), tokens
		}
	}
	// The remaining chunks, at least two, share the text evenly.
	count := max(2, (rest-overlapTarget+target-overlapTarget-1)/(target-overlapTarget))
	even := (rest + (count-1)*overlapTarget) / count
	return s.settle(window{
		low: first + Min + margin, ideal: first + even, high: first + min(Max-margin, rest+MinOverlap-lastMin),
		ranks: s.places.ends,
		least: Min, most: Max,
		count: func(at int) int { return s.count(start, at) },
	})
}

// overlap returns where the chunk after one that ends at byte end begins.
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

// window is a range to search for a place, with its validity check.
type window struct {
	low, ideal, high int    // numbers of tokens of the text before the place
	ranks            []rank // by byte offset
	least, most      int    // the valid range of count
	count            func(at int) int
}

// settle returns the best place of a window, in bytes, and its count. If counting invalidates it,
// the window is narrowed around the ideal place, which has the most room for error on both sides.
// The last attempt's result is used as it is.
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

// best returns the highest-ranked place in a window. Ties go to the one nearest to the ideal, in
// bytes.
func (s *splitter) best(w window) int {
	low, ideal, high := s.tokens[w.low-1], s.tokens[w.ideal-1], s.tokens[w.high-1]
	// A token may end inside a character, which may then fill the window.
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

// at returns the number of tokens of the text that end at or before offset.
func (s *splitter) at(offset int) int {
	return sort.SearchInts(s.tokens, offset+1)
}

// count returns the tokens of a part of the text, counted on its own while the budget lasts, else
// taken from the whole.
func (s *splitter) count(start, end int) int {
	size := end - start
	if size > s.budget {
		return s.at(end) - s.at(start)
	}
	s.budget -= size
	return len(s.tokenizer.Lengths(s.text[start:end]))
}
