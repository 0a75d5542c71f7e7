package answer

import "tasklens/internal/clean"

// fit keeps the sources of a prompt within the budget of tokens: the least relevant one goes first,
// the later one of equals. What is left keeps its order. A single source that is too long is cut
// rather than left out, because an answer from its beginning is better than none. Sources are
// measured as the prompt has them, with the mark of its fence.
func (a *Answerer) fit(mark string, chosen []candidate) []candidate {
	if a.surelyFits(mark, chosen) {
		return chosen
	}
	total := 0
	sizes := make([]int, len(chosen))
	for i, c := range chosen {
		sizes[i] = len(a.tokenizer.Lengths(sourceText(mark, i+1, c)))
		total += sizes[i]
	}
	for total > a.options.ContextTokens && len(chosen) > 1 {
		least := 0
		for i := range chosen {
			if chosen[i].weight() <= chosen[least].weight() {
				least = i
			}
		}
		total -= sizes[least]
		chosen = append(chosen[:least:least], chosen[least+1:]...)
		sizes = append(sizes[:least:least], sizes[least+1:]...)
	}
	if total > a.options.ContextTokens && len(chosen) == 1 {
		chosen[0] = a.cut(mark, chosen[0], total)
	}
	return chosen
}

// surelyFits says that the sources are far from filling the budget, without counting their tokens,
// which takes longer than all else here. The blanks that the prompt puts into a text at most triple
// the tokens that it was stored with; what stands around it has no more tokens than bytes.
func (a *Answerer) surelyFits(mark string, chosen []candidate) bool {
	most := 0
	for i, c := range chosen {
		stored := 3 * c.Tokens
		if c.Tokens <= 0 { // not embedded yet
			stored = 3 * len(c.Text)
		}
		c.Text = ""
		most += stored + len(sourceText(mark, i+1, c))
	}
	return most <= a.options.ContextTokens
}

// weight is how relevant a candidate is, by the measure that chose it. What the question names is
// worth more than the most similar text.
func (c candidate) weight() float64 {
	switch {
	case c.Named && c.Similarity != nil:
		return 3 + *c.Similarity
	case c.Named:
		return 3
	case c.Relevance != nil:
		return *c.Relevance
	case c.Similarity != nil:
		return *c.Similarity
	}
	return 0
}

// cut leaves of a source that takes so many tokens the beginning that is within the budget, at a
// character's end. Tokens are those of the text as the prompt has it, which is shorter by what
// nobody sees and longer by the blanks in role marks.
func (a *Answerer) cut(mark string, c candidate, total int) candidate {
	lengths := a.tokenizer.Lengths(data(c.Text))
	kept := c
	for room := len(lengths); total > a.options.ContextTokens && kept.Text != ""; {
		room = max(0, room-(total-a.options.ContextTokens))
		size := 0
		for _, length := range lengths[:room] {
			size += length
		}
		kept.Text = clean.Beginning(c.Text, size)
		total = len(a.tokenizer.Lengths(sourceText(mark, 1, kept)))
	}
	return kept
}
