package knowledge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxTitle    = 500 // characters
	maxKeywords = 50
	maxKeyword  = 100 // characters
)

// parseNote reads a note. Its title comes from the front matter, else from the first heading. It is
// "" if neither the front matter nor a heading has one.
func parseNote(text string) (Note, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Note{}, errors.New("it is not text in UTF-8")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	fields, body := frontMatter(text)
	note := Note{Draft: Draft{Title: first(fields["title"]), Content: strings.TrimSpace(body)}}
	if note.Title == "" {
		note.Title = heading(body)
	}
	note.Title = clip(note.Title, maxTitle)
	var keywords []string
	for _, keyword := range append(fields["keywords"], fields["tags"]...) {
		if keyword = clip(keyword, maxKeyword); keyword != "" && len(keywords) < maxKeywords {
			keywords = append(keywords, keyword)
		}
	}
	if keywords != nil {
		note.Keywords = &keywords
	}
	if class := strings.ToLower(first(fields["temporal_class"])); class != "" {
		if known := []string{"evergreen", "current", "dated", "historical", "unknown"}; !slices.Contains(known, class) {
			return Note{}, fmt.Errorf("its temporal_class %q is none of %s", clip(class, maxKeyword), strings.Join(known, " "))
		}
		note.TemporalClass = &class
	}
	for _, name := range []string{"created_at", "created", "date"} {
		if date := first(fields[name]); date != "" {
			at, err := moment(date)
			note.CreatedAt = &at
			return note, err
		}
	}
	return note, nil
}

// frontMatter splits off the block between two lines of dashes at the start: names with a value or
// a list. This is the part of YAML that notes use; deeper nesting is skipped.
func frontMatter(text string) (fields map[string][]string, body string) {
	fields = map[string][]string{}
	head, found := strings.CutPrefix(text, "---\n")
	if !found {
		return fields, text
	}
	last := ""
	for {
		line, rest, more := strings.Cut(head, "\n")
		head = rest
		if line = strings.TrimRight(line, " \t"); line == "---" || line == "..." {
			return fields, rest
		}
		if !more { // never closed: a horizontal rule, not front matter
			return map[string][]string{}, text
		}
		if item, is := strings.CutPrefix(strings.TrimLeft(line, " "), "- "); is && last != "" {
			fields[last] = append(fields[last], unquote(item))
			continue
		}
		name, value, is := strings.Cut(line, ":")
		if !is || strings.ContainsAny(name[:min(1, len(name))], " \t#") {
			last = ""
			continue
		}
		last = strings.ToLower(strings.TrimSpace(name))
		value = strings.TrimSpace(value)
		if inner, is := strings.CutPrefix(value, "["); is && strings.HasSuffix(inner, "]") {
			for item := range strings.SplitSeq(strings.TrimSuffix(inner, "]"), ",") {
				fields[last] = append(fields[last], unquote(item))
			}
		} else if value != "" {
			fields[last] = []string{unquote(value)}
		}
	}
}

func unquote(value string) string {
	value = strings.TrimSpace(value)
	for _, quote := range []string{`"`, `'`} {
		if len(value) >= 2 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
			return strings.TrimSpace(value[1 : len(value)-1])
		}
	}
	return value
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

var headingLine = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)

// heading returns the text of the first heading outside fenced code.
func heading(body string) string {
	fence := ""
	for line := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		default:
			if found := headingLine.FindStringSubmatch(line); found != nil && strings.TrimSpace(found[1]) != "" {
				return strings.TrimSpace(found[1])
			}
		}
	}
	return ""
}

func moment(date string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, date); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("its date %q is not of the form 2026-01-31 or 2026-01-31T09:30:00Z", clip(date, maxKeyword))
}

// clip truncates a text to a number of characters.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most]))
}
