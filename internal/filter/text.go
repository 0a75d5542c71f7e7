package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// quotes open and close a phrase, in any combination, because phones and word processors curl them.
// The SQL parser accepts the same set.
const quotes = `"“”„‟«»「」『』〝〞〟`

func isQuote(r rune) bool { return strings.ContainsRune(quotes, r) }

// ReadText separates the filters, such as status:"in progress" or -label:ios, from the words of a
// query. rest is the text to search for, unchanged if there are no filters, and "" if there are
// only filters. It fails if one Members cannot hold all of them. now defines "today", in UTC.
//
// A value of several words, and a project's name behind "in" or "project", are filters if they are
// stored. Without stored values (nil) asked are the spellings to look up; read the query again with
// what was found.
func ReadText(query string, now time.Time, stored Stored) (rest string, found Members, asked []Spelling, err error) {
	t := text{today: now.UTC().Truncate(24 * time.Hour), stored: stored}
	var kept strings.Builder
	var before rune = ' '
	for at := 0; at < len(query); {
		if unicode.IsSpace(before) {
			size, err := t.readTerm(query[at:])
			if err != nil {
				return "", Members{}, nil, err
			}
			if size == 0 {
				size = t.readProject(query[at:])
			}
			if size > 0 {
				at += size
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(query[at:])
		// After a letter or digit a quote does not open a phrase: 5" and 6".
		if isQuote(r) && !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			if _, behind, closed := quoted(query[at:]); closed {
				size, r = behind, '"'
			}
		}
		kept.WriteString(query[at : at+size])
		at, before = at+size, r
	}
	if !t.not.IsZero() {
		t.found.Not = &t.not
	}
	if t.found.IsZero() {
		return query, t.found, t.asked, nil
	}
	return tidy(kept.String()), t.found, t.asked, nil
}

// tidy removes the gaps that filters leave. Inside quotes white space has no meaning either.
func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }

// quoted returns the text between a leading quote and the next one, and where that ends.
func quoted(text string) (inside string, end int, closed bool) {
	_, first := utf8.DecodeRuneInString(text)
	length := strings.IndexAny(text[first:], quotes)
	if length < 0 {
		return "", 0, false
	}
	_, last := utf8.DecodeRuneInString(text[first+length:])
	return text[first : first+length], first + length + last, true
}

// text is a query that is being read.
type text struct {
	today      time.Time
	found, not Members
	stored     Stored
	asked      []Spelling
}

// readTerm reads a filter at the start of a text: a name, a colon and values, up to white space. It
// returns its size, 0 if there is none.
func (t *text) readTerm(text string) (size int, err error) {
	bare := strings.TrimPrefix(text, "-")
	name, value, found := strings.Cut(bare, ":")
	if !found {
		return 0, nil
	}
	name = strings.ToLower(name)
	spaced := strings.HasPrefix(value, " ")
	value = strings.TrimPrefix(value, " ")
	values, length, ok := t.readStored(name, value, spaced)
	if !ok {
		values, length, ok = readValues(value)
		first, _ := utf8.DecodeRuneInString(value)
		_, isTime := t.member(name)
		ok = ok && (!spaced || isQuote(first) || name == "is" || isTime)
	}
	if !ok {
		return 0, nil
	}
	values = t.asStored(name, values)
	if member, _ := t.member(name); t.isUnresolved(member, values) {
		return 0, nil
	}
	if (strings.EqualFold(values[0], "open") || strings.EqualFold(values[0], "closed")) && name == "status" && !t.isStored("statuses", values[0]) {
		name = "is"
	}
	if ok, err = t.add(name, values, bare != text); err != nil {
		return 0, fmt.Errorf("%s %w", name, err)
	}
	if !ok {
		return 0, nil
	}
	return len(text) - len(value) + length, nil
}

// readValues reads comma-separated values, bare or quoted.
func readValues(text string) (values []string, size int, ok bool) {
	for {
		value, length := "", 0
		r, _ := utf8.DecodeRuneInString(text[size:])
		if isQuote(r) {
			var closed bool
			if value, length, closed = quoted(text[size:]); !closed {
				return nil, 0, false // still being typed
			}
		} else {
			length = strings.IndexFunc(text[size:], func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
			if length < 0 {
				length = len(text) - size
			}
			value = text[size : size+length]
		}
		size += length
		if value = tidy(value); value != "" {
			values = append(values, value)
		}
		if !strings.HasPrefix(text[size:], ",") {
			break
		}
		size++
	}
	next, _ := utf8.DecodeRuneInString(text[size:])
	return values, size, len(values) > 0 && (size == len(text) || unicode.IsSpace(next))
}

// add adds a filter, and reports whether it is one. Several values of one name are alternatives,
// except labels, which must all be present, and dates, whose ends join to one range.
func (t *text) add(name string, values []string, not bool) (is bool, err error) {
	isAbsence := name == "no" // no:assignee
	switch {
	case name == "is":
		return t.addState(values, not)
	case isAbsence && len(values) == 1:
		name = strings.ToLower(values[0])
	}
	members := &t.found
	if not {
		members = &t.not
	}
	for _, member := range members.Typed() {
		if member.Typed != name || isAbsence && member.Kind != People {
			continue
		}
		switch value := member.Value.(type) {
		case *Values:
			if isAbsence {
				*value = append(*value, nil)
			} else {
				*value = append(*value, typedValues(values, member.Kind)...)
			}
			return true, nil
		case *Labels:
			return true, value.Add(typedValues(values, member.Kind), not)
		case *Range:
			if r, is := (dates{t.today, member.Kind == Days}).read(strings.ToLower(values[0])); is && len(values) == 1 {
				return true, value.add(r, not)
			}
		}
	}
	return false, nil
}

// addState adds is:open or is:done. Open means not done.
func (t *text) addState(values []string, not bool) (is bool, err error) {
	isOpen := strings.EqualFold(values[0], "open")
	if len(values) > 1 || !isOpen && !strings.EqualFold(values[0], "done") && !strings.EqualFold(values[0], "closed") {
		return false, nil
	}
	isOpen = isOpen != not
	if t.found.Open != nil && *t.found.Open != isOpen {
		return true, fmt.Errorf("cannot be both open and done")
	}
	t.found.Open = &isOpen
	return true, nil
}

const idDigits = 18

// typedValues are values as they stand in JSON: an id is a number, and a person has no @.
func typedValues(values []string, kind Kind) (typed Values) {
	for _, value := range values {
		id, err := strconv.ParseUint(value, 10, 63)
		switch {
		case kind == IDs && err == nil && id > 0 && len(value) <= idDigits:
			typed = append(typed, int64(id))
		case kind == People && strings.EqualFold(strings.TrimPrefix(value, "@"), "me"):
			typed = append(typed, "me")
		default:
			typed = append(typed, value)
		}
	}
	return typed
}

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

// add adds an end that is still open.
func (r *Range) add(other Range, not bool) error {
	if not && *r != (Range{}) || r.From != "" && other.From != "" || r.To != "" && other.To != "" {
		return fmt.Errorf("has two ranges: write one, as in 2025-01-01..2025-03-31")
	}
	*r = Range{r.From + other.From, r.To + other.To}
	if !r.isValid() {
		return fmt.Errorf("ends before it begins")
	}
	return nil
}

// decodeKnown refuses members that a struct does not have.
func decodeKnown(object []byte, into any) error {
	reader := json.NewDecoder(bytes.NewReader(object))
	reader.DisallowUnknownFields()
	return reader.Decode(into)
}

// String writes filters as ReadText reads them.
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

// String writes filters as ReadText reads them.
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
