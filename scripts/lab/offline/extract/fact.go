package extract

import (
	"fmt"
	"regexp"
)

// facts are questions for what stands in the attributes of a ticket's source, with "it" for a key.
// The first that matches counts. Without a name, it is the title with the status.
var facts = []struct {
	asks            *regexp.Regexp
	attribute, name string
}{
	{asks(`it blocked by|blocks? it|blocking it`), "blocked_by", "blockers"},
	{asks(`it blocks?`), "blocks", "tickets that it blocks"},
	{asks(`it (?:a )?duplicates?|duplicates? (?:of )?it`), "duplicates", "ticket that it duplicates"},
	{asks(`(?:children|subtasks?) (?:of|has|does) it`), "children", "children"},
	{asks(`parent of it`), "parent", "parent"},
	{asks(`it relates? to`), "relates_to", "related tickets"},
	{asks(`assigned|assignee|^who (?:is working|works|owns|has it)`), "assignee", "assignee"},
	{asks(`reporter|^who (?:reported|filed|created) it`), "reporter", "reporter"},
	{asks(`due|deadline`), "due", "due date"},
	{asks(`priority of`), "priority", "priority"},
	{asks(`labels?`), "labels", "labels"},
	{asks(`what (?:kind|type)`), "type", "type"},
	{asks(`^(?:when|on which day) was it (?:filed|created|reported)`), "created", "date of creation"},
	{asks(`last (?:updated|changed)`), "updated", "last change"},
	{asks(`^when was it (?:resolved|closed|finished|fixed)`), "resolved", "date of resolution"},
	{asks(`(?:status|state) of (?:ticket )?it|^is it|^has it|^how far is it|working on it|became of it|happened to it|about it|it about|summari[sz]e it|title of it`), "status", ""},
}

func asks(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\b|^)(?:` + pattern + `)\b`)
}

// facts answers a question for an attribute of the named tickets; if none is named, of the one that
// covers most of the question. What no source states is not denied. A ticket tells a fact once.
func (p Prompt) facts(named []int, question string) (chosen []candidate, is bool) {
	for _, fact := range facts {
		if !fact.asks.MatchString(question) {
			continue
		}
		sources := named
		if named == nil {
			sources = p.subject(fact.asks.ReplaceAllString(question, ""))
		}
		told := map[string]bool{}
		for _, i := range sources {
			s := p.Sources[i]
			key, value := s.Fields["ticket"], s.Fields[fact.attribute]
			text := fmt.Sprintf("%s, %s: %s", key, fact.name, value)
			if fact.name == "" {
				text = s.heading()
			}
			if value != "" && !told[key] && len(chosen) < maxChosen {
				told[key], chosen = true, append(chosen, candidate{source: i, text: text})
			}
		}
		return chosen, sources != nil && (named != nil || chosen != nil)
	}
	return nil, false
}

// subject returns the source that covers most of a question, if that is more than half.
func (p Prompt) subject(question string) (sources []int) {
	q, most := newQuestion(question, nil), 0.5
	for i, s := range p.Sources {
		if covered := q.coverage(s.Fields["title"] + "\n" + s.Text); s.Fields["ticket"] != "" && covered > most {
			sources, most = []int{i}, covered
		}
	}
	return sources
}
