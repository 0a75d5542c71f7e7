package export

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tasklens/internal/audience"
)

const (
	maxTitle    = 500 // characters
	maxKeywords = 50
	maxKeyword  = 100 // characters
)

// Document is a document. Its origin and path name it.
type Document struct {
	Path          string   `json:"path"` // below the folder
	Title         string   `json:"title"`
	Content       string   `json:"content"`
	Keywords      []string `json:"keywords,omitempty"`
	TemporalClass string   `json:"temporal_class,omitempty"`
	CreatedAt     string   `json:"created_at,omitempty"` // of a new document; now if left out
	File          string   `json:"file"`
	Line          int      `json:"line,omitzero"`
	Problems      []string `json:"-"` // what is left out, and why
	Unread        []string `json:"-"` // fields of the front matter
}

var temporalClasses = []string{"evergreen", "current", "dated", "historical", "unknown"}

// matterRead are the fields of front matter that are read.
var matterRead = []string{nested, "title", "keywords", "tags", "temporal_class", "created_at", "created", "date"}

// errPrivate is returned for a note that is not for everybody.
var errPrivate = errors.New("left out")

// parseNote reads a note. Its title comes from the front matter, else from the first heading. It is
// "" if neither has one.
func parseNote(text, restricted string) (note Document, err error) {
	if err := CheckText(text); err != nil {
		return Document{}, err
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	fields, body, problems, limit := frontMatter(text)
	switch {
	case limit.Why == "" || restricted == Keep:
	case limit.Doubt && restricted == "":
		return Document{}, fmt.Errorf("its front matter has %s, and every user reads documents: --restricted %s imports such notes and private ones, --restricted %s neither", limit.Why, Keep, Omit)
	default:
		return Document{}, fmt.Errorf("%w: its front matter says %s, and every user reads documents", errPrivate, limit.Why)
	}
	note.Problems = problems
	leftOut := func(field, value, reason string) {
		note.Problems = append(note.Problems, fmt.Sprintf("%s %q is left out: it %s", field, value, reason))
	}
	note.Unread = fields[nested]
	for name, values := range fields {
		if !slices.Contains(matterRead, name) && !audience.Knows(name) && strings.Join(values, "") != "" {
			note.Unread = append(note.Unread, name)
		}
	}
	note.Content = strings.TrimSpace(body)
	if note.Title = fields.first("title", maxTitle); note.Title == "" {
		note.Title = shortLine(titleIn(body), maxTitle)
	}
	for _, keyword := range append(separate(fields["keywords"]), separate(fields["tags"])...) {
		if keyword = shortLine(keyword, maxKeyword); keyword != "" && len(note.Keywords) < maxKeywords {
			note.Keywords = append(note.Keywords, keyword)
		}
	}
	if class := fields.first("temporal_class", maxKeyword); slices.Contains(temporalClasses, strings.ToLower(class)) {
		note.TemporalClass = strings.ToLower(class)
	} else if class != "" {
		leftOut("temporal_class", class, "is none of "+strings.Join(temporalClasses, " "))
	}
	for _, name := range []string{"created_at", "created", "date"} {
		if date := fields.first(name, maxKeyword); date != "" {
			if note.CreatedAt, err = ParseDate(date); err == nil {
				break
			}
			leftOut(name, date, err.Error())
		}
	}
	return note, nil
}

// separate returns the values of a list that may be a line with commas and marks of links or tags.
func separate(values []string) (separated []string) {
	if len(values) == 1 {
		values = strings.Split(values[0], ",")
	}
	for _, value := range values {
		separated = append(separated, strings.Trim(value, " #[]\"'"))
	}
	return separated
}

var (
	noHeading   = regexp.MustCompile("(?ms)^ *(?:```.*?(?:^ *```|\\z)|~~~.*?(?:^ *~~~|\\z))|<!--.*?(?:-->|\\z)")
	headingLine = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$|^ {0,3}([^\s#>|*+-].*?)[ \t]*\n {0,3}(?:=+|-{2,})[ \t]*$|(?is:<h1(?:\s[^>]*)?>(.*?)</h1>)`)
	tagged      = regexp.MustCompile(`<[^>]*>`)
)

// titleIn returns the text of the first heading, "# A", "A" over a line of = or -, or <h1>, outside
// of fenced code and comments.
func titleIn(body string) string {
	found := headingLine.FindStringSubmatch(noHeading.ReplaceAllString(body, ""))
	if found == nil {
		return ""
	}
	return unfilled.ReplaceAllString(cmp.Or(found[1], found[2], tagged.ReplaceAllString(found[3], "")), "")
}

// shortLine makes a text one line of at most so many characters.
func shortLine(text string, most int) string {
	text, _ = shorten(strings.Join(strings.Fields(strings.ReplaceAll(text, "\x00", "")), " "), most)
	return text
}
