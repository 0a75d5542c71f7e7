package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxListed is the maximum number of tickets in a list.
const maxListed = 5

var (
	anyKey = regexp.MustCompile(`(?i)\b([a-z][a-z0-9_]*?)( ?[-‐‑‒–−] ?|[ #_]{0,2})([0-9]+)\b`)
	// Questions with each key replaced by "it".
	statusQuestion = regexp.MustCompile(`\b(status|state|progress|outcome|result|resolution|solution|became|become|going on|came out|come out|how far|where (are|do) we|happen(s|ed|ing)? (to|with))\b` +
		`|^(is|are|was|were|has|have|had|did|do|does)\b.*\b(done|finished|fixed|closed|resolved|solved|blocked|open|released|progress|review|complete|completed|working|work|started|do it|did it)\b`)
	aboutQuestion   = regexp.MustCompile(`^((what|what is|what's|what was|what about|which ticket is|summari[sz]e|describe|explain|tell me about|show( me)?) (the )?(ticket |issue )?it( about)?|.*\b(title|name|called|subject)\b.*)$`)
	purposeQuestion = regexp.MustCompile(`\b(objectives?|goals?|purpose|aims?|mission|scope|about|covers?|for|describe|responsible|summari[sz]e|what is|what's)\b`)
	listQuestion    = regexp.MustCompile(`^(what|which|list|show|give|tell|are|is|who)\b`)
)

// generic words ask for a list of what is in a state, and have no content.
var generic = strings.Fields("what whats which list show give tell me us all any every everything are is in of on the there tickets ticket issues issue bugs tasks items work project projects app " +
	"still currently now at moment and or with for that status state please")

// readNames answers a question about a named ticket, a project's purpose, or the tickets of a
// project in a state. ok is false for any other question.
func readNames(prompt Prompt) (chosen []candidate, ok bool) {
	sources, rest, missing := namedTickets(prompt)
	switch {
	case len(sources) > 0:
		return aboutTickets(prompt, sources, rest), true
	case missing:
		return nil, true
	}
	if chosen, _ = field(prompt, nil, prompt.Question); chosen != nil {
		return chosen, true
	}
	question := inWords(prompt.Question)
	if listQuestion.MatchString(question) {
		if chosen = inState(prompt, question); len(chosen) > 0 {
			return chosen, true
		}
	}
	if purposeQuestion.MatchString(question) {
		if chosen = purpose(prompt, question); len(chosen) > 0 {
			return chosen, true
		}
	}
	return nil, false
}

// namedTickets returns the sources of the tickets named by key. rest is the question with "it" for
// each key. missing means that a named ticket has no source, so that other sources cannot answer.
func namedTickets(prompt Prompt) (sources []int, rest string, missing bool) {
	byKey := map[string][]int{}
	prefixes := map[string]bool{}
	for i, s := range prompt.Sources {
		key := strings.ToUpper(s.Ticket)
		byKey[key] = append(byKey[key], i)
		if end := strings.LastIndexByte(key, '-'); end > 0 {
			prefixes[key[:end]] = true
		}
	}
	asksStatus := statusQuestion.MatchString(inWords(anyKey.ReplaceAllString(prompt.Question, " it ")))
	rest = anyKey.ReplaceAllStringFunc(prompt.Question, func(typed string) string {
		parts := anyKey.FindStringSubmatch(typed)
		prefix := strings.ToUpper(parts[1])
		if found := byKey[prefix+"-"+parts[3]]; len(found) > 0 {
			for _, i := range found {
				if !slices.Contains(sources, i) {
					sources = append(sources, i)
				}
			}
			return "it"
		}
		isKey := strings.ContainsAny(parts[2], "-‐‑‒–−") || prefixes[prefix] || parts[1] == prefix
		said := slices.ContainsFunc(prompt.Sources, func(s Source) bool { // UTF-8 is a word, not a key
			return strings.Contains(strings.ToLower(s.Title+"\n"+s.Text), strings.ToLower(typed))
		})
		missing = missing || isKey && !said || asksStatus && (isKey || parts[2] == " ")
		return typed
	})
	return sources, rest, missing
}

func aboutTickets(prompt Prompt, sources []int, rest string) []candidate {
	if chosen, is := field(prompt, sources, rest); is {
		return chosen
	}
	question := inWords(rest)
	titles := titlesOf(prompt, sources)
	if statusQuestion.MatchString(question) {
		if len(titles) > 1 {
			return titles[:min(len(titles), maxChosen)]
		}
		return append(titles, resolution(prompt, sources)...)
	}
	about := Prompt{Question: rest}
	for _, i := range sources {
		about.Sources = append(about.Sources, prompt.Sources[i])
	}
	if aboutQuestion.MatchString(question) {
		candidates, _ := gather(about)
		for _, c := range candidates {
			if c.position == 0 && !c.code && len(titles) == 1 {
				c.source = sources[c.source]
				return append(titles, c)
			}
		}
		return titles[:min(len(titles), maxChosen)]
	}
	chosen := best(about, true)
	for i := range chosen {
		chosen[i].source = sources[chosen[i].source]
	}
	return chosen
}

// titlesOf returns the title of each ticket among the sources.
func titlesOf(prompt Prompt, sources []int) (titles []candidate) {
	seen := map[string]bool{}
	for _, i := range sources {
		if s := prompt.Sources[i]; s.Title != "" && !seen[s.Ticket] {
			seen[s.Ticket] = true
			titles = append(titles, candidate{source: i, position: -1, text: s.Title})
		}
	}
	return titles
}

// resolution returns the sentence that says what was done, or else the start of a note. The notes
// are the ticket's sources that do not start with its title.
func resolution(prompt Prompt, sources []int) []candidate {
	var notes []candidate
	for _, i := range sources {
		s := prompt.Sources[i]
		if strings.HasPrefix(s.Text, s.Title) {
			continue
		}
		for position, sentence := range splitSentences(s.Text) {
			c := candidate{source: i, position: position, text: sentence.text}
			if !sentence.code && tellsRemedy(sentence.text) {
				return []candidate{c}
			}
			if position == 0 {
				notes = append(notes, c)
			}
		}
	}
	return notes[:min(1, len(notes))]
}

// purpose returns the start of a project's own text if the question names the project and asks
// nothing else that its sources could answer.
func purpose(prompt Prompt, question string) []candidate {
	for i, s := range prompt.Sources {
		if s.Ticket != "" || s.Project == "" || !names(question, s.Project) && !names(question, s.Key) {
			continue
		}
		var chosen []candidate
		for position, sentence := range splitSentences(s.Text) {
			if sentence.text != s.Project && len(chosen) < 2 {
				chosen = append(chosen, candidate{source: i, position: position, code: sentence.code, text: sentence.text})
			}
		}
		if len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

// inState lists the tickets of a project in a state if the question names both and asks nothing
// else.
func inState(prompt Prompt, question string) []candidate {
	var sources []int
	for i, s := range prompt.Sources {
		project := s.Project
		prefix, _, _ := strings.Cut(s.Ticket, "-")
		if !names(question, project) {
			project = prefix
		}
		if s.Ticket == "" || !names(question, project) || !names(question, s.Status) {
			continue
		}
		rest := strings.Replace(strings.Replace(" "+question+" ", " "+inWords(project)+" ", " ", 1), " "+inWords(s.Status)+" ", " ", 1)
		if !slices.ContainsFunc(strings.Fields(rest), func(word string) bool { return !slices.Contains(generic, word) }) {
			sources = append(sources, i)
		}
	}
	titles := titlesOf(prompt, sources)
	return titles[:min(len(titles), maxListed)]
}

// names reports whether a question, in words, contains a whole name.
func names(question, name string) bool {
	name = inWords(name)
	return name != "" && strings.Contains(" "+question+" ", " "+name+" ")
}

// inWords returns a text as lower-case words separated by spaces; apostrophes within words stay.
func inWords(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}
