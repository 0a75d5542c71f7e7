package answer

import "tasklens/internal/clean"

// fit keeps a prompt's sources within the token budget by dropping the least relevant first, and
// the later of equals. The others keep their order. A single source that is too long is truncated
// rather than dropped. Sources are measured in the form they have in the prompt.
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

// surelyFits reports that the sources are far below the budget, without the cost of counting their
// tokens. Blanks inserted by the prompt at most triple a text's stored tokens, and the markup
// around it has at most one token a byte.
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

// weight is the relevance of a candidate by the measure that chose it. A source named in the
// question outweighs the most similar text.
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

// cut truncates a source to the budget, between characters. Tokens are those of the text as the
// prompt has it: shorter by invisible characters, longer by the blanks in role markers.
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
