package enrich

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tasklens/internal/clean"
)

// Limits on what is stored of an answer, in characters.
const (
	maxKeywords = 15
	maxKeyword  = 60
	maxEntities = 100
	maxName     = 200
)

const (
	// maxAnswerBytes is far more than maxAnswerTokens allows: a longer answer comes from a server
	// that ignores the limit.
	maxAnswerBytes = 64 << 10
	// maxTried is how many names of an answer are searched for in the text.
	maxTried = 2 * maxEntities
)

// enrichment is a model's description of a document.
type enrichment struct {
	Keywords      []string `json:"keywords"`
	NamedEntities []entity `json:"named_entities"`
	TemporalClass string   `json:"temporal_class"`
}

type entity struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// read validates an answer against the schema, which a compatible server may have ignored.
func read(text string) (enrichment, error) {
	var e enrichment
	if len(text) > maxAnswerBytes {
		return e, bad("is longer than %d bytes", maxAnswerBytes)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, bad("is not JSON of the schema") // the decoder's message would quote the model
	}
	if _, err := decoder.Token(); err != io.EOF {
		return e, bad("goes on after the JSON of the schema")
	}
	switch {
	case e.Keywords == nil:
		return e, bad("has no keywords, not even an empty list")
	case e.NamedEntities == nil:
		return e, bad("has no named_entities, not even an empty list")
	case !slices.Contains(classes, e.TemporalClass):
		return e, bad("has a temporal_class that is none of %s", strings.Join(classes, ", "))
	}
	for _, entity := range e.NamedEntities {
		if !slices.Contains(types, entity.Type) {
			return e, bad("has an entity whose type is none of %s", strings.Join(types, ", "))
		}
	}
	return e, nil
}

// markup are characters of HTML and Markdown that no keyword needs. Keywords and names are
// displayed, so what a model derived from untrusted text must not act as markup.
const markup = "<>[]{}|\\`"

// believed returns what may be stored: normalised keywords and entities that occur in the text,
// without duplicates.
func (e enrichment) believed(text string) enrichment {
	kept := enrichment{Keywords: []string{}, NamedEntities: []entity{}, TemporalClass: e.TemporalClass}
	for _, keyword := range e.Keywords {
		keyword = strings.TrimFunc(fold(keyword), func(r rune) bool { return !inWord(r) && r != '+' && r != '#' }) // c++, c#
		if strings.ContainsAny(keyword, markup) || strings.Contains(keyword, "://") || !strings.ContainsFunc(keyword, inWord) || utf8.RuneCountInString(keyword) > maxKeyword || slices.Contains(kept.Keywords, keyword) || len(kept.Keywords) == maxKeywords {
			continue
		}
		kept.Keywords = append(kept.Keywords, keyword)
	}
	text = fold(text)
	seen := map[entity]bool{}
	for _, found := range e.NamedEntities[:min(len(e.NamedEntities), maxTried)] {
		found.Name = oneLine(found.Name)
		key := entity{fold(found.Name), found.Type}
		if found.Name == "" || strings.ContainsAny(found.Name, "<>") || utf8.RuneCountInString(found.Name) > maxName || seen[key] || len(seen) == maxEntities || !occurs(text, key.Name) {
			continue
		}
		seen[key] = true
		kept.NamedEntities = append(kept.NamedEntities, found)
	}
	return kept
}

// oneLine returns a text in Unicode's composed form on one line, without invisible characters. NUL,
// which Postgres rejects, is one of these.
func oneLine(text string) string {
	text = strings.ReplaceAll(clean.Visible(text), "\uFFFD", "")
	return strings.Join(strings.Fields(norm.NFC.String(text)), " ")
}

// fold returns a text in the lower-case form in which names and keywords are compared.
func fold(text string) string { return strings.ToLower(oneLine(text)) }

// occurs reports whether a name occurs in a text as separate words: Ana is not in analyse. Both are
// folded.
func occurs(text, name string) bool {
	for start := 0; ; {
		i := strings.Index(text[start:], name)
		if i < 0 {
			return false
		}
		i += start
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		first, size := utf8.DecodeRuneInString(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		if !joined(before, first) && !joined(last, after) {
			return true
		}
		start = i + size
	}
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// joined reports whether two neighbouring characters belong to one word. Scripts without spaces do
// not tell.
func joined(a, b rune) bool {
	spaceless := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	}
	return inWord(a) && inWord(b) && !spaceless(a) && !spaceless(b)
}
