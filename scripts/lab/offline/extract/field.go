package extract

import (
	"fmt"
	"regexp"
	"slices"
)

type fieldQuestion struct {
	asks            *regexp.Regexp
	attribute, name string
}

// fieldQuestions are questions for a field of a ticket, in words and with "it" for a key, by the
// attribute that answers them. The first that matches counts.
var fieldQuestions = []fieldQuestion{
	{regexp.MustCompile(`\bit blocked by\b|\bblock(s|ing)? it\b`), "blocked_by", "blockers"},
	{regexp.MustCompile(`\bit block(s|ing)?\b|\bblocked by it\b`), "blocks", "tickets that it blocks"},
	{regexp.MustCompile(`\bduplicates? of it\b|\bduplicates? it\b`), "duplicated_by", "duplicates"},
	{regexp.MustCompile(`\bit (a )?duplicates?\b`), "duplicates", "ticket that it duplicates"},
	{regexp.MustCompile(`\b(child(ren)?|subtasks?|sub tasks?)\b.*\bit\b`), "children", "children"},
	{regexp.MustCompile(`\bparent\b|\bit (a child|a subtask|part) of\b`), "parent", "parent"},
	{regexp.MustCompile(`\b(relates?|related|linked)\b.*\bit\b|\bit (relates?|related|linked)\b`), "relates_to", "related tickets"},
	{regexp.MustCompile(`\b(assigned|assignee)\b|^who (is working|works|owns|has \S+-\d+)\b`), "assignee", "assignee"},
	{regexp.MustCompile(`\breporter\b|^who (has )?(reported|filed|created|opened|raised)\b`), "reporter", "reporter"},
	{regexp.MustCompile(`\b(due|deadline)\b`), "due", "due date"},
	{regexp.MustCompile(`\bpriority\b`), "priority", "priority"},
	{regexp.MustCompile(`\b(labels?|labelled|tags?|tagged)\b`), "labels", "labels"},
	{regexp.MustCompile(`\b(what|which) (kind|type)\b|\bissue type\b`), "type", "type"},
	{regexp.MustCompile(`^(when|which day|what day|on which day|on what day)\b.*\b(filed|created|reported|opened|raised)\b`), "created", "date of creation"},
	{regexp.MustCompile(`\blast (updated|changed|touched|edited)\b`), "updated", "last change"},
	{regexp.MustCompile(`^(when|which day|what day|on which day|on what day)\b.*\b(resolved|closed|finished|completed|done|fixed)\b`), "resolved", "date of resolution"},
}

// field answers a question for a field of one of the sources: of the tickets that it names, or if
// it names none, of the ticket that fits it best. rest is the question with "it" for each key. What
// no source states is not denied. A field stands with each source of a ticket and is told once. is
// is false for any other question.
func field(prompt Prompt, named []int, rest string) (chosen []candidate, is bool) {
	question := inWords(rest)
	at := slices.IndexFunc(fieldQuestions, func(f fieldQuestion) bool { return f.asks.MatchString(question) })
	if at < 0 {
		return nil, false
	}
	asked := fieldQuestions[at]
	if named == nil {
		named = subject(prompt, asked.asks.ReplaceAllString(question, " "))
	}
	told := map[string]bool{}
	for _, i := range named {
		s := prompt.Sources[i]
		value := s.Fields[asked.attribute]
		if value == "" || told[s.Ticket] || len(chosen) == maxChosen {
			continue
		}
		told[s.Ticket] = true
		chosen = append(chosen, candidate{source: i, text: fmt.Sprintf("%s, %s: %s", s.Ticket, asked.name, value)})
	}
	return chosen, true
}

// subject returns the source that a question without a key is about, if one covers most of it.
func subject(prompt Prompt, question string) (sources []int) {
	candidates, context := gather(prompt)
	q, most := readQuestion(question, candidates), 0.5
	for i, s := range prompt.Sources {
		if covered := q.coverage(context[i]); len(s.Fields) > 0 && covered > most {
			sources, most = []int{i}, covered
		}
	}
	return sources
}
