package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Add requires more labels: one more, or any of a list.
func (l *Labels) Add(values Values, not bool) error {
	switch {
	case not || len(l.Any) == 0:
		l.Any = append(l.Any, values...)
	case len(values) == 1:
		l.All = append(l.All, values...)
	case len(l.Any) == 1:
		l.Any, l.All = values, append(l.All, l.Any...)
	default:
		return fmt.Errorf("has two lists of alternatives")
	}
	return nil
}

// decodeKnown refuses members that a struct does not have.
func decodeKnown(object []byte, into any) error {
	reader := json.NewDecoder(bytes.NewReader(object))
	reader.DisallowUnknownFields()
	return reader.Decode(into)
}

// String writes filters as people type them in a query.
func (f Filters) String() string {
	var terms []string
	for _, one := range f {
		members, is := one.(Members)
		if !is {
			text, _ := json.Marshal(one)       // a client's JSON
			_ = json.Unmarshal(text, &members) // what it has of another type, the database refuses
		}
		terms = append(terms, members.String())
	}
	return strings.Join(terms, " ")
}

// UnmarshalJSON reads an object as Read does, and refuses members that it does not know.
func (m *Members) UnmarshalJSON(text []byte) error {
	type members Members
	conditions, err := Read(text)
	if len(conditions) > 1 {
		err = errors.New("labels_all beside labels")
	}
	for _, condition := range conditions {
		one, _ := json.Marshal(condition) // as it was decoded
		err = errors.Join(err, decodeKnown(one, (*members)(m)))
	}
	return err
}

// UnmarshalJSON reads a list, or a single value.
func (v *Values) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if !bytes.HasPrefix(text, []byte("[")) {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	err := reader.Decode((*[]any)(v))
	if len(*v) > MaxValues || slices.ContainsFunc(*v, func(value any) bool { return utf8.RuneCountInString(fmt.Sprint(value)) > MaxCharacters }) {
		return errors.New("too long a list or value")
	}
	return err
}

// UnmarshalJSON reads an object, or as any the values.
func (l *Labels) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("{")) {
		return decodeKnown(text, (*struct{ Any, All Values })(l))
	}
	return l.Any.UnmarshalJSON(text)
}

// String writes filters as people type them in a query.
func (m Members) String() string {
	terms := m.terms("")
	if m.Open != nil {
		terms = append(terms, map[bool]string{true: "is:open", false: "is:done"}[*m.Open])
	}
	if m.Not != nil {
		terms = append(terms, m.Not.terms("-")...)
	}
	return strings.Join(terms, " ")
}

func (m Members) terms(not string) (terms []string) {
	for _, member := range m.Typed() {
		var lists []Values
		switch value := member.Value.(type) {
		case *Values:
			lists = []Values{*value}
		case *Labels:
			lists = []Values{value.Any}
			for _, label := range value.All {
				lists = append(lists, Values{label})
			}
		case *Range:
			if *value != (Range{}) { // a day is no range
				terms = append(terms, not+member.Typed+":"+strings.TrimSuffix(value.From+".."+value.To, ".."+value.From))
			}
		}
		for _, list := range lists {
			var texts []string
			for _, value := range list {
				switch text := fmt.Sprint(value); {
				case value == nil:
					terms = append(terms, not+"no:"+member.Typed)
				case strings.ContainsAny(text, " ,"):
					texts = append(texts, `"`+text+`"`)
				default:
					texts = append(texts, text)
				}
			}
			if len(texts) > 0 {
				terms = append(terms, not+member.Typed+":"+strings.Join(texts, ","))
			}
		}
	}
	return terms
}
