// Package querytext parses what users type into a search box: filters such as status:"in progress"
// or -label:ios, mixed with words. It owns the names and dates of filters; anything else stays
// text, unchanged. It knows nothing of the data and reads no clock.
package querytext

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/filter"
)

// quotes open and close a phrase, in any combination, because phones and word processors curl them.
// The SQL parser accepts the same set.
const quotes = `"“”„‟«»「」『』〝〞〟`

func isQuote(r rune) bool { return strings.ContainsRune(quotes, r) }

// Read separates the filters from a query. rest is the text to search for, "" if the query is only
// filters. It fails if the filters cannot be combined. now defines "today", in UTC.
func Read(query string, now time.Time) (rest string, filters filter.Filters, err error) {
	var kept strings.Builder
	var before rune = ' '
	for at := 0; at < len(query); {
		if unicode.IsSpace(before) {
			if term, size, ok := readTerm(query[at:], now); ok {
				if filters, err = term.addTo(filters); err != nil {
					return "", filter.Filters{}, err
				}
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
	if filters.IsZero() {
		return query, filters, nil
	}
	return tidy(kept.String()), filters, nil
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

// term is one filter: its condition, and whether it is negated.
type term struct {
	name string
	not  bool
	one  filter.Filters
}

// read reads the values of the filter with this name, and reports whether it has them.
func (t *term) read(name string, values []string, now time.Time) bool {
	switch t.name = name; name {
	case "is":
		return t.readState(values)
	case "no":
		return t.readAbsence(values)
	case "label":
		t.one.Labels.Any = filter.Texts(values...)
		return true
	}
	if list := listOf(&t.one, name); list.Values != nil {
		switch list.Kind {
		case filter.IDs:
			*list.Values = projects(values)
		case filter.People:
			*list.Values = people(values)
		default:
			*list.Values = filter.Texts(values...)
		}
		return true
	}
	for _, span := range t.one.Spans() {
		if span.Name == name {
			return oneRange(span.Range, values, now, span.Days)
		}
	}
	return false
}

// listOf returns the list of a name, whose values are alternatives, or none.
func listOf(f *filter.Filters, name string) (none filter.List) {
	for _, list := range f.Lists() {
		if list.Typed == name {
			return list
		}
	}
	return none
}

// readState reads is:open and is:done. Open means not done.
func (t *term) readState(values []string) bool {
	isOpen := strings.EqualFold(values[0], "open")
	if len(values) > 1 || !isOpen && !strings.EqualFold(values[0], "done") && !strings.EqualFold(values[0], "closed") {
		return false
	}
	isOpen = isOpen != t.not
	t.one.Open, t.not = &isOpen, false
	return true
}

// readAbsence reads no:assignee.
func (t *term) readAbsence(values []string) bool {
	t.name = strings.ToLower(values[0])
	list := listOf(&t.one, t.name)
	if len(values) > 1 || list.Kind != filter.People {
		return false
	}
	*list.Values = []filter.Value{{Null: true}}
	return true
}

const idDigits = 18

// projects returns keys, or ids for numbers.
func projects(values []string) (read []filter.Value) {
	for _, value := range values {
		if id, err := strconv.ParseUint(value, 10, 63); err == nil && id > 0 && len(value) <= idDigits {
			read = append(read, filter.Value{ID: int64(id)})
		} else {
			read = append(read, filter.Value{Text: value})
		}
	}
	return read
}

func people(values []string) []filter.Value {
	read := filter.Texts(values...)
	for i := range read {
		if strings.EqualFold(strings.TrimPrefix(read[i].Text, "@"), filter.Me) {
			read[i].Text = filter.Me
		}
	}
	return read
}

const longestName = 20 // bytes

// readTerm reads a filter at the start of text: a name, a colon and values, up to white space.
func readTerm(text string, now time.Time) (t term, size int, ok bool) {
	bare := strings.TrimPrefix(text, "-")
	t.not = bare != text
	name, value, found := strings.Cut(bare, ":")
	if !found || len(name) > longestName {
		return t, 0, false
	}
	values, length, ok := readValues(value)
	if !ok || !t.read(strings.ToLower(name), values, now) {
		return t, 0, false
	}
	return t, len(text) - len(value) + length, true
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
		if utf8.RuneCountInString(value) > filter.MaxCharacters || len(values) > filter.MaxValues {
			return nil, 0, false
		}
		if !strings.HasPrefix(text[size:], ",") {
			break
		}
		size++
	}
	next, _ := utf8.DecodeRuneInString(text[size:])
	return values, size, len(values) > 0 && (size == len(text) || unicode.IsSpace(next))
}

// addTo adds a term to the filters. Several values of one name are alternatives, except labels,
// which must all be present, and dates, whose ranges intersect.
func (t term) addTo(filters filter.Filters) (filter.Filters, error) {
	one := t.one
	if t.not {
		one = filter.Filters{Not: &t.one}
	} else if list := listOf(&filters, t.name).Values; list != nil {
		*list = append(*list, *listOf(&one, t.name).Values...)
		if len(*list) > filter.MaxValues {
			return filter.Filters{}, fmt.Errorf("%s has more than %d values", t.name, filter.MaxValues)
		}
		return filters, nil
	}
	return filter.And(filters, one)
}
