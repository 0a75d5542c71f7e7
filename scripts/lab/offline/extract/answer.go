package extract

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/clean"
	"tasklens/scripts/lab/offline/words"
)

// The responses without a suitable sentence.
const (
	NoSources = "I only answer from given sources, and none were given."
	NoAnswer  = "The sources do not answer this question."
	NoTickets = "I count and list tickets by project, status, type, priority, person, label, date and words, but cannot read this question so. " +
		"Ask, for example: How many open bugs are there per project? Which open tickets mention refunds?"
)

const (
	maxChosen     = 3
	maxCandidates = 1000 // over all sources
	maxEmbedded   = 60   // those of them with most words of the question; some 0.4 s of one core
	longestQuote  = 400  // bytes
	mostSources   = 1000 // what reads as a citation of one is quoted in another form
	titleShare    = 0.80 // of its score that a title keeps: it only answers if no sentence does
	sameAgain     = 0.70 // the most that a sentence may repeat of an earlier one
)

var (
	remedies   = regexp.MustCompile(`(?i)fix|resolve|solve|repair|root cause|caused by|because|due to|turned out|workaround|replaced|added|now |changed|rolled back|reverted|instead of|patched|deployed|the reason`)
	forRemedy  = regexp.MustCompile(`(?i)fix|resolv|solv|repair|why|cause|reason|remed|workaround|how did we|what happened|how was|how were|solution`)
	typedKey   = regexp.MustCompile(`(?i)\b([a-z][a-z0-9_]*?)([ ‐-―-]?)([0-9]+)\b`)
	forPurpose = regexp.MustCompile(`(?i)\b(?:objective|goal|purpose|aim|mission|scope|about|cover|for|describe|summari[sz]e)s?\b`)
)

// weights say what a candidate's score is made of, and what it must reach. They were found on the
// half of the sample's questions to choose by (scripts/eval).
type weights struct {
	words, meaning float64 // its own
	context        float64 // the words of its source, because a sentence may say "it"
	remedy         float64 // the bonus of a solution or a cause, if the question asks for one
	fits           float64 // the least score of the best one
	near           float64 // the least share of the best score for further ones
}

var (
	byWords   = weights{words: 1, context: 0.35, remedy: 0.45, fits: 0.44, near: 0.60}
	byMeaning = weights{words: 0.1, meaning: 1, remedy: 0.4, fits: 0.46, near: 0.50}
)

// A candidate is a text that may be quoted.
type candidate struct {
	source         int // index of its source
	text           string
	title          bool
	words, meaning float64 // the share of the question that it covers, and its cosine with it
	score          float64
}

// An Embedder returns a text's vector, of length 1. It must be safe for concurrent use.
type Embedder = func(text string) ([]float32, error)

// Answer replies with one to three sentences of the sources, each with its citation [N], or with
// NoSources, NoAnswer or NoTickets, which cite nothing. Without an embedder it compares words only.
func (p Prompt) Answer(embed Embedder) (answer string, err error) {
	if len(p.Sources) == 0 {
		return NoSources, nil
	}
	named, question, isMissing := p.named()
	if isMissing {
		return NoAnswer, nil
	}
	chosen, isFact := p.facts(named, question)
	if p.AsksForTickets && (named == nil || !isFact) {
		return NoTickets, nil
	}
	if !isFact {
		chosen = p.purpose()
	}
	if !isFact && chosen == nil {
		if chosen, err = p.best(named, question, embed); err != nil {
			return "", err
		}
	}
	var parts []string
	for _, c := range chosen {
		parts = append(parts, quote(c.text, p.Sources[c.source].Fields["id"]))
	}
	return cmp.Or(strings.Join(parts, " "), NoAnswer), nil
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
func (p Prompt) best(named []int, question string, embed Embedder) (chosen []candidate, err error) {
	all, covered := p.candidates(named), map[int]float64{}
	q, by := newQuestion(question, all), byWords
	for i := range all {
		c := &all[i]
		s := p.Sources[c.source]
		if _, known := covered[c.source]; !known {
			covered[c.source] = q.coverage(s.Fields["title"] + "\n" + s.Text)
		}
		c.words = q.coverage(c.text)
		c.score = c.words + by.context*covered[c.source]
	}
	byScore := func(a, b candidate) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(all, byScore)
	if embed != nil {
		all, by = all[:min(len(all), maxEmbedded)], byMeaning
		if err := p.compare(question, all, embed); err != nil {
			return nil, err
		}
	}
	forRemedy := forRemedy.MatchString(question)
	for i := range all {
		c := &all[i]
		c.score = by.words*c.words + by.context*covered[c.source] + by.meaning*c.meaning
		switch {
		case c.title:
			c.score *= titleShare
		case forRemedy && remedies.MatchString(c.text) && named != nil:
			c.score += by.remedy
		case forRemedy && remedies.MatchString(c.text):
			c.score += by.remedy * covered[c.source]
		}
	}
	slices.SortStableFunc(all, byScore)
	for _, c := range all {
		if len(chosen) == maxChosen || c.score < by.fits && chosen == nil || chosen != nil && c.score < by.near*chosen[0].score {
			break
		}
		same := slices.IndexFunc(chosen, func(other candidate) bool { return p.repeats(c, other) })
		if same < 0 {
			chosen = append(chosen, c)
		} else if p.Sources[c.source].day() > p.Sources[chosen[same].source].day() {
			chosen[same] = c
		}
	}
	return chosen, nil
}

// repeats reports whether a sentence says what another one said before it, or, if both have a day,
// the same with other words or figures: of these the later one holds.
func (p Prompt) repeats(c, other candidate) bool {
	dated := p.Sources[c.source].day() != "" && p.Sources[other.source].day() != ""
	return newQuestion(c.text, nil).coverage(other.text) >= sameAgain || dated && newQuestion(other.text, nil).coverage(c.text) >= sameAgain
}

// candidates returns the sentences and titles of the named sources, or of all, each once. A
// ticket's text starts with its name.
func (p Prompt) candidates(named []int) (all []candidate) {
	seen := map[string]bool{}
	for i, s := range p.Sources {
		title := s.Fields["title"]
		add := func(text string, isTitle bool) {
			text = excerpt(text)
			if whole := title + "\n" + text; !seen[whole] {
				seen[whole], all = true, append(all, candidate{source: i, text: text, title: isTitle})
			}
		}
		if named != nil && !slices.Contains(named, i) {
			continue
		}
		for _, text := range splitSentences(s.Text) {
			if text != title && len(all) < maxCandidates {
				add(text, false)
			}
		}
		if title != "" {
			add(s.heading(), true)
		}
	}
	return all
}

// compare sets the cosines of a question and of candidates after their source's title, which says
// what they are about.
func (p Prompt) compare(question string, all []candidate, embed Embedder) error {
	asked, err := embed(question)
	if err != nil {
		return err
	}
	group := errgroup.Group{}
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() error {
			c := &all[i]
			s := p.Sources[c.source]
			vector, err := embed(cmp.Or(s.Fields["title"], s.Fields["project"]) + ". " + c.text)
			for j := range vector {
				c.meaning += float64(vector[j]) * float64(asked[j])
			}
			return err
		})
	}
	return group.Wait()
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

// excerpt returns a text's beginning if it is longer than a quote.
func excerpt(text string) string {
	if len(text) > longestQuote {
		text = clean.ClipBytes(text, longestQuote-len("…")) + "…"
	}
	return text
}

// quote returns a sentence with its citation before the full stop.
func quote(text, id string) string {
	text = excerpt(clean.Uncite(strings.Join(strings.Fields(text), " "), mostSources, true))
	if mark := text[len(text)-1:]; strings.Contains("!?", mark) {
		return fmt.Sprintf("%s [%s]", text, id)
	}
	return fmt.Sprintf("%s [%s].", strings.TrimRight(text, ".,;:"), id)
}
