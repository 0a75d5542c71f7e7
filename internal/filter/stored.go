package filter

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spelling is what a query may call a stored value of a member, named as in JSON.
type Spelling struct{ Member, Text string }

// Stored are the stored values that spellings can mean. An empty list: none, so that a filter with
// it is text.
type Stored map[Spelling][]string

// Candidate is a name in filters that no stored value has.
type Candidate struct {
	_ struct{} `schema:"Candidate"`

	Member string   `json:"member" example:"assignee"`
	Value  string   `json:"value" example:"gary"`
	Names  []string `json:"names" max:"6" example:"[\"Gary Mathews\", \"Gary Moss\"]" doc:"The stored values that resemble it, the nearest first."`
}

const (
	mostSpellings = 40 // that one query asks for
	valueWords    = 6  // of one value
)

// Unresolved are the names of candidates that do not mean exactly one stored value.
func Unresolved(names []Candidate) Stored {
	stored := Stored{}
	for _, name := range names {
		if len(name.Names) != 1 {
			stored[Spelling{name.Member, name.Value}] = nil
		}
	}
	return stored
}

// isUnresolved reports whether one of these values was looked up and no stored value was found.
func (t *text) isUnresolved(member string, values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		meant, is := t.stored[Spelling{member, value}]
		return is && len(meant) == 0
	})
}

// lookup returns the one value that a spelling means. Without stored values it notes the question.
func (t *text) lookup(member, spelling string) (value string, is bool) {
	if t.stored == nil {
		if len(t.asked) < mostSpellings {
			t.asked = append(t.asked, Spelling{member, spelling})
		}
		return "", false
	}
	values := t.stored[Spelling{member, spelling}]
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// word is one that may be part of a value of several words: it opens no phrase and no filter.
var word = regexp.MustCompile(`^[^\s"“”„‟«»「」『』〝〞〟:]+`)

// leading returns the words at the start of a text: the end of each, and its end without
// punctuation.
func leading(text string) (ends, bare []int) {
	at := 0
	for len(ends) < valueWords {
		length := len(word.FindString(text[at:]))
		if length == 0 || at+length < len(text) && text[at+length] != ' ' {
			break // it holds a quote or a colon
		}
		at += length
		ends, bare = append(ends, at), append(bare, len(strings.TrimRight(text[:at], "?!.,;")))
		if at < len(text) {
			at++
		}
	}
	return ends, bare
}

// longest finds the most words at the start of a text, at least so many, that are a stored value.
func (t *text) longest(member, text string, least int) (value string, size int) {
	ends, bare := leading(text)
	for n := len(ends) - 1; n >= least-1; n-- {
		if value, is := t.lookup(member, text[:bare[n]]); is {
			return value, ends[n]
		}
	}
	return "", 0
}

// readStored reads a value of several words, as in status:to do, or of any number behind a space.
func (t *text) readStored(name, text string, spaced bool) (values []string, size int, ok bool) {
	least := 2
	if spaced {
		least = 1
	}
	member, isTime := t.member(name)
	if member == "" || isTime {
		return nil, 0, false
	}
	value, size := t.longest(member, text, least)
	return []string{value}, size, size > 0
}

// member returns the name in JSON of what is typed as name, "" if that is no member.
func (t *text) member(name string) (member string, isTime bool) {
	for _, m := range t.found.Typed() {
		if m.Typed == name {
			_, isTime = m.Value.(*Range)
			return m.Name, isTime
		}
	}
	return "", false
}

// asStored replaces projects' names by their keys.
func (t *text) asStored(name string, values []string) []string {
	if name == "project" {
		for i, value := range values {
			if key, is := t.lookup("projects", value); is {
				values[i] = key
			}
		}
	}
	return values
}

// isStored reports whether there is such a value; true until it was looked up.
func (t *text) isStored(member, spelling string) bool {
	_, is := t.lookup(member, spelling)
	return is || t.stored == nil
}

// Correct replaces each name that can only mean one stored value, and reports whether it did.
func (m Members) Correct(names []Candidate) (corrected Members, changed bool) {
	stored := Stored{}
	for _, name := range names {
		stored[Spelling{name.Member, name.Value}] = name.Names
	}
	return m.correct(stored)
}

func (m Members) correct(stored Stored) (corrected Members, changed bool) {
	correct := func(member string, values Values) Values {
		values = slices.Clone(values)
		for i, value := range values {
			spelling, _ := value.(string)
			if meant := stored[Spelling{member, spelling}]; len(meant) == 1 {
				values[i], changed = meant[0], true
			}
		}
		return values
	}
	if m.Not != nil {
		not, is := m.Not.correct(stored)
		m.Not, changed = &not, is
	}
	for _, member := range m.Typed() {
		switch value := member.Value.(type) {
		case *Values:
			*value = correct(member.Name, *value)
		case *Labels:
			value.Any, value.All = correct(member.Name, value.Any), correct(member.Name, value.All)
		}
	}
	return m, changed
}

var (
	place        = regexp.MustCompile(`^(?i:in|project) `)
	article      = regexp.MustCompile(`^(?i:the )?(?i:project )?`)
	afterProject = regexp.MustCompile(`^ (?i:project)\b`)
)

// readProject reads a project's name behind "in" or "project", as in "bugs in the Mobile App". It
// returns its size, 0 if there is none.
func (t *text) readProject(text string) int {
	before := place.FindString(text)
	if before == "" {
		return 0
	}
	skipped := article.FindString(text[len(before):])
	for _, start := range []int{len(before), len(before) + len(skipped)} {
		key, size := t.longest("projects", text[start:], 1)
		after := afterProject.FindString(text[start+size:])
		isNamed := strings.Contains(strings.ToLower(text[:start]), "project") || after != ""
		if size > 0 && (isNamed || isName(text[start:start+size], text[start+size:])) {
			t.found.Projects = append(t.found.Projects, key)
			return start + size + len(after)
		}
		if skipped == "" {
			break
		}
	}
	return 0
}

// isName reports whether what stands behind "in" is meant as a name: a single word in lower case is
// a word (a loop in compiler), and a capital behind it continues another name.
func isName(spelling, rest string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, " "))
	return !unicode.IsUpper(next) && (strings.Contains(spelling, " ") || strings.ContainsFunc(spelling, unicode.IsUpper))
}
