package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads filters from a JSON object of valid UTF-8. It is strict: wrong is called for each
// error, with the member's path below name, such as filters.assignee[1]. A null or blank member
// counts as absent.
func Decode(name string, object []byte, wrong func(path, message string)) Filters {
	d := decoder{wrong: wrong}
	return d.filters(name, object, false)
}

type decoder struct{ wrong func(path, message string) }

func (d decoder) filters(path string, object []byte, under bool) (f Filters) {
	lists, spans := f.Lists(), f.Spans()
	d.members(path, object, func(name, path string, value json.RawMessage) {
		for _, l := range lists {
			if l.Name == name {
				*l.Values = d.values(path, value, l.Kind)
				return
			}
		}
		for _, s := range spans {
			if s.Name == name {
				*s.Range = d.span(path, value, s.Days)
				return
			}
		}
		switch {
		case name == "labels" && value[0] == '{':
			d.members(path, value, func(name, path string, value json.RawMessage) {
				switch name {
				case "any":
					f.Labels.Any = d.values(path, value, Names)
				case "all":
					f.Labels.All = append(f.Labels.All, d.values(path, value, Names)...)
				default:
					d.wrong(path, "is not known: labels have any and all")
				}
			})
		case name == "labels":
			f.Labels.Any = d.values(path, value, Names)
		case name == "labels_all":
			f.Labels.All = append(f.Labels.All, d.values(path, value, Names)...)
		case name == "open" && !under:
			if err := json.Unmarshal(value, &f.Open); err != nil {
				d.wrong(path, "must be true or false")
			}
		case name == "not" && !under:
			not := d.filters(path, value, true)
			if !not.IsZero() {
				f.Not = &not
			}
		case name == "open" || name == "not":
			d.wrong(path, "must be left out under \"not\"")
		default:
			d.wrong(path, "is not a filter")
		}
	})
	if len(f.Labels.All) > MaxValues {
		d.wrong(path+".labels", fmt.Sprintf("must have at most %d elements", MaxValues))
	}
	return f
}

// members visits the members of an object that are not null.
func (d decoder) members(path string, object []byte, visit func(name, path string, value json.RawMessage)) {
	reader := json.NewDecoder(bytes.NewReader(object))
	if start, err := reader.Token(); err != nil || start != json.Delim('{') {
		d.wrong(path, "must be a JSON object")
		return
	}
	given := map[string]bool{}
	for reader.More() {
		key, err := reader.Token()
		var value json.RawMessage
		if err == nil {
			err = reader.Decode(&value)
		}
		name, isName := key.(string)
		if err != nil || !isName {
			d.wrong(path, "must be a JSON object")
			return
		}
		path := path + "." + name
		switch {
		case given[name]:
			d.wrong(path, "is given twice")
		case string(value) != "null":
			visit(name, path, value)
		}
		if given[name] = true; len(given) > MaxValues {
			return // enough errors were reported
		}
	}
	if _, err := reader.Token(); err != nil || reader.More() {
		d.wrong(path, "must be a JSON object")
	}
}

// values reads a list, or a single value.
func (d decoder) values(path string, value json.RawMessage, of Kind) (values []Value) {
	if value[0] != '[' {
		return d.value(nil, path, value, of, "must be "+of.String()+" or a list of them")
	}
	reader := json.NewDecoder(bytes.NewReader(value))
	_, _ = reader.Token() // the bracket
	for i := 0; reader.More(); i++ {
		if i == MaxValues {
			d.wrong(path, fmt.Sprintf("must have at most %d elements", MaxValues))
			return values
		}
		var element json.RawMessage
		if reader.Decode(&element) != nil {
			return values // unreachable: the JSON was validated before
		}
		values = d.value(values, path+"["+strconv.Itoa(i)+"]", element, of, "must be "+of.String())
	}
	return values
}

// String says what a value must be.
func (k Kind) String() string {
	switch k {
	case IDs:
		return "a key or an id"
	case People:
		return "a string or null"
	default:
		return "a string"
	}
}

// value appends one value, unless it is blank.
func (d decoder) value(values []Value, path string, raw json.RawMessage, of Kind, must string) []Value {
	var text string
	switch {
	case of == People && string(raw) == "null":
		return append(values, Value{Null: true})
	case of == IDs && raw[0] >= '0' && raw[0] <= '9':
		id, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || id < 1 || id > MaxID {
			d.wrong(path, must)
			return values
		}
		return append(values, Value{ID: id})
	case raw[0] != '"' || json.Unmarshal(raw, &text) != nil:
		d.wrong(path, must)
		return values
	}
	text = strings.TrimSpace(text)
	switch {
	case strings.ContainsRune(text, 0):
		d.wrong(path, "must not contain U+0000")
	case utf8.RuneCountInString(text) > MaxCharacters:
		d.wrong(path, fmt.Sprintf("must have at most %d characters", MaxCharacters))
	case text != "":
		if strings.EqualFold(text, Me) {
			text = Me
		}
		return append(values, Value{Text: text})
	}
	return values
}

func (d decoder) span(path string, value json.RawMessage, days bool) (r Range) {
	must := "must be a date (2025-03-01) or a time (RFC 3339)"
	if days {
		must = "must be a date (2025-03-01)"
	}
	d.members(path, value, func(name, path string, value json.RawMessage) {
		var text string
		if name != "from" && name != "to" {
			d.wrong(path, "is not known: a range has from and to")
			return
		}
		if value[0] != '"' || json.Unmarshal(value, &text) != nil {
			d.wrong(path, must)
			return
		}
		text = strings.TrimSpace(text)
		if _, isDay, ok := instant(text); text != "" && (!ok || days && !isDay) {
			d.wrong(path, must)
			return
		}
		if name == "from" {
			r.From = text
		} else {
			r.To = text
		}
	})
	if r.IsReversed() {
		d.wrong(path+".from", "must not be after to")
	}
	return r
}

// instant reads a date or a time. A date means its first moment in UTC.
func instant(text string) (at time.Time, isDay, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, true, day.Year() >= 1
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, false, err == nil && at.Year() >= 1
}

// start returns the first moment of a range, end the first moment after it.
func (r Range) start() (at time.Time, bounded bool) {
	at, _, bounded = instant(r.From)
	return at, bounded
}

func (r Range) end() (at time.Time, bounded bool) {
	at, isDay, bounded := instant(r.To)
	if isDay {
		at = at.AddDate(0, 0, 1)
	}
	return at, bounded
}

// IsReversed reports whether a range ends before it starts. A range whose ends are the same moment
// is valid and empty.
func (r Range) IsReversed() bool {
	start, isBounded := r.start()
	end, ends := r.end()
	return isBounded && ends && (start.After(end) || start.Equal(end) && len(r.To) == len(time.DateOnly))
}
