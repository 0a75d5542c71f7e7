package load

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"tasklens/internal/ticketfile"
)

const (
	maxTitle    = 500 // characters
	maxKeywords = 50
	maxKeyword  = 100 // characters
)

// Note is a document as upsert_documents takes it. What the file lacks is left out.
type Note struct {
	ID            string   `json:"id"`
	Title         string   `json:"title"`
	Content       string   `json:"content"`
	Keywords      []string `json:"keywords,omitempty"`
	TemporalClass string   `json:"temporal_class,omitempty"`
	CreatedAt     string   `json:"created_at,omitempty"` // of a new document; now if left out
}

var temporalClasses = []string{"evergreen", "current", "dated", "historical", "unknown"}

// parseNote reads a note. Its title comes from the front matter, else from the first heading. It is
// "" if neither has one.
func parseNote(text string) (note Note, err error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Note{}, errors.New("it is not text in UTF-8")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	fields, body, err := frontMatter(text)
	if err != nil {
		return Note{}, err
	}
	note.Content = strings.TrimSpace(body)
	if note.Title = fields.first("title", maxTitle); note.Title == "" {
		note.Title = clip(heading(body), maxTitle)
	}
	for _, keyword := range append(fields["keywords"], fields["tags"]...) {
		if keyword = clip(keyword, maxKeyword); keyword != "" && len(note.Keywords) < maxKeywords {
			note.Keywords = append(note.Keywords, keyword)
		}
	}
	note.TemporalClass = strings.ToLower(fields.first("temporal_class", maxKeyword))
	if note.TemporalClass != "" && !slices.Contains(temporalClasses, note.TemporalClass) {
		return Note{}, fmt.Errorf("its temporal_class %q is none of %s", note.TemporalClass, strings.Join(temporalClasses, " "))
	}
	for _, name := range []string{"created_at", "created", "date"} {
		if date := fields.first(name, maxKeyword); date != "" {
			if note.CreatedAt, err = ticketfile.ParseDate(date); err != nil {
				return Note{}, fmt.Errorf("its date %q %w", date, err)
			}
			break
		}
	}
	return note, nil
}

// matter is the front matter of a note: its values, or lists of values, by name in lower case.
type matter map[string][]string

func (m matter) first(name string, most int) string {
	if len(m[name]) == 0 {
		return ""
	}
	return clip(m[name][0], most)
}

var matterLines = regexp.MustCompile(`(?ms)\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\z)`)

// frontMatter splits off the YAML between two lines of dashes at the start. Deeper nesting is
// skipped.
func frontMatter(text string) (fields matter, body string, err error) {
	found := matterLines.FindStringSubmatch(text)
	if found == nil {
		return nil, text, nil
	}
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(found[1]), &nodes); err != nil {
		return nil, "", fmt.Errorf("its front matter is not valid: %w", err)
	}
	fields = matter{}
	for name, node := range nodes {
		name = strings.ToLower(name)
		for _, value := range append([]*yaml.Node{&node}, node.Content...) {
			if value.Kind == yaml.ScalarNode && value.Tag != "!!null" && node.Kind != yaml.MappingNode {
				fields[name] = append(fields[name], value.Value)
			}
		}
	}
	return fields, text[len(found[0]):], nil
}

var (
	fenced      = regexp.MustCompile("(?ms)^ *(?:```.*?(?:^ *```|\\z)|~~~.*?(?:^ *~~~|\\z))")
	headingLine = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$`)
)

// heading returns the text of the first heading outside fenced code.
func heading(body string) string {
	if found := headingLine.FindStringSubmatch(fenced.ReplaceAllString(body, "")); found != nil {
		return found[1]
	}
	return ""
}

// clip makes a text one line of at most so many characters.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "\x00", "")), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most]))
}
