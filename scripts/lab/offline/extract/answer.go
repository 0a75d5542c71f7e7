package extract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The responses without a suitable sentence.
const (
	NoSources = "I only answer from given sources, and none were given."
	NoAnswer  = "The sources do not answer this question."
)

const (
	maxChosen     = 3
	maxCandidates = 1000 // over all sources
	longestQuote  = 400  // bytes; longer sentences are cut at a word
	fits          = 0.44 // minimum score of the best sentence
	nearBest      = 0.60 // minimum share of the best score for further sentences
	sameAgain     = 0.70 // maximum overlap of a sentence with an earlier one
)

// Answer replies to a user's message (see ParsePrompt) with one to three sentences of its sources,
// each with its citation [N], or with NoSources or NoAnswer, which cite nothing. It is
// deterministic.
func Answer(message string) string {
	prompt, ok := ParsePrompt(message)
	if !ok {
		return NoSources
	}
	return prompt.Answer()
}

// Answer replies to a prompt with sources.
func (prompt Prompt) Answer() string {
	var parts []string
	for _, c := range choose(prompt) {
		parts = append(parts, quote(prompt.Sources[c.source], c))
	}
	if len(parts) == 0 {
		return NoAnswer
	}
	return strings.Join(parts, " ")
}

// choose picks the sentences of an answer.
func choose(prompt Prompt) []candidate {
	if chosen, ok := readNames(prompt); ok {
		return chosen
	}
	return best(prompt, false)
}

// best returns the sentences that fit the question best, those of the best source first, in text
// order. named: the question names the subject, so every source is about it.
func best(prompt Prompt, named bool) []candidate {
	candidates, context := gather(prompt)
	q := readQuestion(prompt.Question, candidates)
	q.named = named
	q.score(candidates, context)
	slices.SortStableFunc(candidates, func(a, b candidate) int { // stable: ties in the order of the sources
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var chosen []candidate
	for _, c := range candidates {
		if len(chosen) == maxChosen || c.score < fits || len(chosen) > 0 && c.score < nearBest*chosen[0].score {
			break
		}
		if !repeats(c, chosen) {
			chosen = append(chosen, c)
		}
	}
	rank := map[int]int{}
	for i, c := range chosen {
		if _, ok := rank[c.source]; !ok {
			rank[c.source] = i
		}
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int {
		if a.source != b.source {
			return rank[a.source] - rank[b.source]
		}
		return a.position - b.position
	})
	return chosen
}

// gather lists the sentences and titles of all sources, and what each source says as a whole.
func gather(prompt Prompt) (candidates []candidate, context []map[uint64]int) {
	for i, s := range prompt.Sources {
		context = append(context, weightsOf(s.Title+"\n"+s.Text))
		position := 0
		for _, sentence := range splitSentences(s.Text) {
			if sentence.text == s.Title || len(candidates) >= maxCandidates { // a ticket's text starts with its name
				continue
			}
			candidates = append(candidates, candidate{
				source: i, position: position, code: sentence.code, text: sentence.text, weights: weightsOf(sentence.text),
			})
			position++
		}
		if s.Title != "" {
			candidates = append(candidates, candidate{source: i, position: -1, text: s.Title, weights: weightsOf(s.Title)})
		}
	}
	return candidates, context
}

// repeats reports whether an earlier sentence already said most of c.
func repeats(c candidate, chosen []candidate) bool {
	for _, other := range chosen {
		same, all := 0, 0
		for hash, weight := range c.weights {
			all += weight
			same += min(weight, other.weights[hash])
		}
		if all == 0 || float64(same) >= sameAgain*float64(all) {
			return true
		}
	}
	return false
}

var citationLike = regexp.MustCompile(`\[(\s*\d[\d\s,;]*)\]`)

// quote returns a sentence with its citation before the full stop. Numbers in square brackets in
// the text become round ones, or they would look like citations.
func quote(s Source, c candidate) string {
	text := strings.Join(strings.Fields(shorten(c.text)), " ")
	text = citationLike.ReplaceAllString(text, "($1)")
	if c.position < 0 {
		text = describe(s, text)
	}
	last, size := utf8.DecodeLastRuneInString(text)
	switch {
	case last == '.' || last == '。':
		return fmt.Sprintf("%s [%s]%c", text[:len(text)-size], s.ID, last)
	case strings.ContainsRune("!?…！？", last):
		return fmt.Sprintf("%s [%s]", text, s.ID)
	}
	return fmt.Sprintf("%s [%s].", strings.TrimRight(text, ",;:"), s.ID)
}

// describe names a ticket by its title: "TX-400 (Done): title".
func describe(s Source, title string) string {
	switch {
	case s.Ticket != "" && s.Status != "":
		return fmt.Sprintf("%s (%s): %s", s.Ticket, s.Status, title)
	case s.Ticket != "":
		return fmt.Sprintf("%s: %s", s.Ticket, title)
	}
	return title
}

func shorten(text string) string {
	if len(text) <= longestQuote {
		return text
	}
	text = clip(text, longestQuote)
	if i := strings.LastIndexByte(text, ' '); i > longestQuote/2 {
		text = text[:i]
	}
	return text + "…"
}
