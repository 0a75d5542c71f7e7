package extract

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"tasklens/scripts/lab/offline/words"
)

// The responses without a suitable sentence.
const (
	NoSources = "I only answer from given sources, and none were given."
	NoAnswer  = "The sources do not answer this question."
)

const (
	maxChosen     = 3
	maxCandidates = 1000 // over all sources
	longestQuote  = 400  // bytes
	fits          = 0.44 // the least score of the best sentence
	nearBest      = 0.60 // the least share of the best score for further sentences
	sameAgain     = 0.70 // the most that a sentence may repeat of an earlier one
)

// The score of a sentence is the share of the question that it covers, and more:
const (
	contextShare = 0.35 // for the coverage of its source (title and text), because the sentence may say "it"
	remedyBonus  = 0.45 // for a sentence with a solution or a cause, if the question asks for one
	titleShare   = 0.75 // a title only answers if no sentence does
)

var (
	remedies   = regexp.MustCompile(`(?i)fix|resolve|solve|repair|root cause|caused by|because|due to|turned out|workaround|replaced|added|now |changed|rolled back|reverted|instead of|patched|deployed|the reason`)
	forRemedy  = regexp.MustCompile(`(?i)fix|resolv|solv|repair|why|cause|reason|remed|workaround|how did we|what happened|how was|how were|solution`)
	numbersIn  = regexp.MustCompile(`\[(\s*\d[\d\s,;]*)\]`) // they would look like citations
	typedKey   = regexp.MustCompile(`(?i)\b([a-z][a-z0-9_]*?)([ ‐-―-]?)([0-9]+)\b`)
	forPurpose = regexp.MustCompile(`(?i)\b(?:objective|goal|purpose|aim|mission|scope|about|cover|for|describe|summari[sz]e)s?\b`)
)

// A candidate is a text that may be quoted.
type candidate struct {
	source int // index of its source
	text   string
	title  bool
	score  float64
}

// Answer replies with one to three sentences of the sources, each with its citation [N], or with
// NoSources or NoAnswer, which cite nothing. It is deterministic.
func (p Prompt) Answer() string {
	if len(p.Sources) == 0 {
		return NoSources
	}
	named, question, isMissing := p.named()
	if isMissing {
		return NoAnswer
	}
	chosen, isFact := p.facts(named, question)
	if !isFact {
		chosen = p.purpose()
	}
	if !isFact && chosen == nil {
		chosen = p.best(named, question)
	}
	var parts []string
	for _, c := range chosen {
		parts = append(parts, quote(c.text, p.Sources[c.source].Fields["id"]))
	}
	return cmp.Or(strings.Join(parts, " "), NoAnswer)
}

// named returns the sources of the tickets that the question names, and the question with "it" for
// their keys. A named ticket may have no source: no other answers for it.
func (p Prompt) named() (sources []int, question string, isMissing bool) {
	byKey, prefixes, said := map[string][]int{}, map[string]bool{}, ""
	for i, s := range p.Sources {
		key := strings.ToUpper(s.Fields["ticket"])
		byKey[key] = append(byKey[key], i)
		prefix, _, _ := strings.Cut(key, "-")
		prefixes[prefix] = true
		said += strings.ToLower(s.Fields["title"] + "\n" + s.Text + "\n")
	}
	found := map[int]bool{}
	question = typedKey.ReplaceAllStringFunc(p.Question, func(typed string) string {
		m := typedKey.FindStringSubmatch(typed)
		prefix := strings.ToUpper(m[1])
		for _, i := range byKey[prefix+"-"+m[3]] {
			found[i] = true
		}
		if byKey[prefix+"-"+m[3]] != nil {
			return "it"
		}
		isMissing = isMissing || (m[2] != "" && m[2] != " " || prefixes[prefix]) && !strings.Contains(said, strings.ToLower(typed)) // UTF-8 is no key
		return typed
	})
	return slices.Sorted(maps.Keys(found)), question, isMissing
}

// purpose returns the start of the text of a project that the question names, if it asks what the
// project is for.
func (p Prompt) purpose() (chosen []candidate) {
	for i, s := range p.Sources {
		isNamed := phrase(p.Question, s.Fields["project"]) || phrase(p.Question, s.Fields["key"])
		if s.Fields["type"] != "project" || !isNamed || !forPurpose.MatchString(p.Question) || chosen != nil {
			continue
		}
		for _, text := range splitSentences(s.Text) {
			if text != s.Fields["project"] && len(chosen) < 2 {
				chosen = append(chosen, candidate{source: i, text: text})
			}
		}
	}
	return chosen
}

// phrase reports whether a text contains a whole name, in any case.
func phrase(text, name string) bool {
	return name != "" && regexp.MustCompile(`(?i)(?:^|\P{L})`+regexp.QuoteMeta(name)+`(?:\P{L}|$)`).MatchString(text)
}

// best returns the sentences of the named sources, or of all, that fit the question best, the best
// first.
func (p Prompt) best(named []int, question string) (chosen []candidate) {
	var all []candidate
	context := map[int]string{}
	for i, s := range p.Sources {
		if named != nil && !slices.Contains(named, i) {
			continue
		}
		context[i] = s.Fields["title"] + "\n" + s.Text
		for _, text := range splitSentences(s.Text) {
			if text != s.Fields["title"] && len(all) < maxCandidates { // a ticket's text starts with its name
				all = append(all, candidate{source: i, text: text})
			}
		}
		if s.Fields["title"] != "" {
			all = append(all, candidate{source: i, text: s.heading(), title: true})
		}
	}
	q := newQuestion(question, all)
	covered := map[int]float64{}
	for i, text := range context {
		covered[i] = q.coverage(text)
	}
	forRemedy := forRemedy.MatchString(question)
	for i := range all {
		c := &all[i]
		c.score = q.coverage(c.text) + contextShare*covered[c.source]
		switch {
		case c.title:
			c.score *= titleShare
		case forRemedy && remedies.MatchString(c.text) && named != nil:
			c.score += remedyBonus
		case forRemedy && remedies.MatchString(c.text):
			c.score += remedyBonus * covered[c.source]
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, c := range all {
		if len(chosen) == maxChosen || c.score < fits || len(chosen) > 0 && c.score < nearBest*chosen[0].score {
			break
		}
		isRepeated := slices.ContainsFunc(chosen, func(other candidate) bool { return newQuestion(c.text, nil).coverage(other.text) >= sameAgain })
		if !isRepeated {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// A question is a text with the weights of its features: the rarer among the candidates, the more.
type question struct {
	weights map[uint64]float64
	total   float64
}

func newQuestion(text string, all []candidate) question {
	q, holds := question{weights: map[uint64]float64{}}, map[uint64]int{}
	for _, c := range all {
		for _, f := range words.Features(c.text) {
			holds[f.Hash]++
		}
	}
	for _, f := range words.Features(text) {
		weight := float64(f.Weight) * math.Log(1+float64(len(all)+1)/float64(holds[f.Hash]+1))
		q.weights[f.Hash], q.total = weight, q.total+weight
	}
	return q
}

// coverage returns the share of the question that a text covers, 0 to 1.
func (q question) coverage(text string) float64 {
	covered, last := 0.0, uint64(0)
	for _, f := range words.Features(text) { // ordered by hash
		if f.Hash != last {
			covered, last = covered+q.weights[f.Hash], f.Hash
		}
	}
	return covered / max(q.total, 1)
}

// heading names a ticket by its title: TX-400 (Done): title.
func (s Source) heading() string {
	if s.Fields["ticket"] == "" {
		return s.Fields["title"]
	}
	return fmt.Sprintf("%s (%s): %s", s.Fields["ticket"], s.Fields["status"], s.Fields["title"])
}

// quote returns a sentence with its citation before the full stop.
func quote(text, id string) string {
	text = numbersIn.ReplaceAllString(strings.Join(strings.Fields(text), " "), "($1)")
	if len(text) > longestQuote {
		text = strings.ToValidUTF8(text[:longestQuote], "") + "…"
	}
	if mark := text[len(text)-1:]; strings.Contains("!?", mark) {
		return fmt.Sprintf("%s [%s]", text, id)
	}
	return fmt.Sprintf("%s [%s].", strings.TrimRight(text, ".,;:"), id)
}
