package extract

import (
	"math"
	"strings"

	"tasklens/scripts/lab/offline/embed"
)

// A candidate is a sentence with its features.
type candidate struct {
	source   int // index of its source
	position int // of the sentence in its source; -1 for the title
	code     bool
	text     string
	weights  map[uint64]int
	score    float64
}

// A question is the parsed question.
type question struct {
	features []embed.Feature
	rarity   map[uint64]float64 // how well a feature distinguishes the sentences
	total    float64
	remedy   bool // asks how something was solved, or why it happened
	named    bool // names the subject by its key, so sources need not match it
}

// Penalties and bonuses of a sentence's score, which otherwise is the share of the question that it
// covers.
const (
	contextShare = 0.35 // for the coverage of its source (title and text), because the sentence may say "it"
	leadBonus    = 0.03 // the first sentence of a source
	remedyBonus  = 0.45 // a sentence with a solution, if the question asks for one
	codeShare    = 0.5
	titleShare   = 0.75 // a title only answers if no sentence does
)

// remedyWords mark sentences about a solution or a cause.
var remedyWords = []string{
	"fix", "resolve", "solve", "repair", "root cause", "caused by", "because", "due to", "turned out", "workaround",
	"replaced", "added", "now ", "changed", "rolled back", "reverted", "instead of", "patched", "deployed", "the reason",
}

// remedyQuestions are words of questions for a solution or a cause.
var remedyQuestions = []string{"fix", "resolv", "solv", "repair", "why", "cause", "reason", "remed", "workaround", "how did we", "what happened", "how was", "how were", "solution"}

func readQuestion(text string, candidates []candidate) question {
	q := question{features: embed.Features(text), rarity: map[uint64]float64{}}
	lower := strings.ToLower(text)
	for _, word := range remedyQuestions {
		q.remedy = q.remedy || strings.Contains(lower, word)
	}
	for _, f := range q.features {
		holds := 0
		for _, c := range candidates {
			if c.weights[f.Hash] > 0 {
				holds++
			}
		}
		q.rarity[f.Hash] = math.Log(1 + float64(len(candidates)+1)/float64(holds+1))
		q.total += float64(f.Weight) * q.rarity[f.Hash]
	}
	return q
}

// coverage returns the share of the question that weights cover, 0 to 1.
func (q question) coverage(weights map[uint64]int) float64 {
	if q.total == 0 {
		return 0
	}
	covered := 0.0
	for _, f := range q.features {
		if has := weights[f.Hash]; has > 0 {
			covered += float64(min(has, f.Weight)) * q.rarity[f.Hash]
		}
	}
	return covered / q.total
}

// score rates all candidates. context holds the features of each whole source.
func (q question) score(candidates []candidate, context []map[uint64]int) {
	covered := make([]float64, len(context))
	for i, weights := range context {
		covered[i] = q.coverage(weights)
	}
	for i := range candidates {
		c := &candidates[i]
		c.score = q.coverage(c.weights) + contextShare*covered[c.source]
		if q.remedy && tellsRemedy(c.text) && c.position >= 0 {
			if q.named {
				c.score += remedyBonus
			} else {
				c.score += remedyBonus * covered[c.source]
			}
		}
		switch {
		case c.position < 0:
			c.score *= titleShare
		case c.position == 0:
			c.score += leadBonus
		}
		if c.code {
			c.score *= codeShare
		}
	}
}

func tellsRemedy(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range remedyWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

func weightsOf(text string) map[uint64]int {
	weights := map[uint64]int{}
	for _, f := range embed.Features(text) {
		weights[f.Hash] += f.Weight
	}
	return weights
}
