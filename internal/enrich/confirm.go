package enrich

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tasklens/internal/clean"
)

// Limits on what is read and stored of an answer. maxAnswerBytes is far more than maxAnswerTokens
// allows: a longer answer comes from a server that ignores the limit.
const (
	maxAnswerBytes = 64 << 10
	maxKeywords    = 15
	maxKeyword     = 60 // characters
	maxEntities    = 100
	maxName        = 200 // characters
)

// enrichment is a model's description of a document.
type enrichment struct {
	Keywords      []string `json:"keywords"`
	NamedEntities []entity `json:"named_entities"`
	TemporalClass string   `json:"temporal_class"`
	model         string   // as the provider names it
}

type entity struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// read decodes an answer. A compatible server may have ignored the schema; the class, which every
// answer must have, tells.
func read(text string) (e enrichment, err error) {
	if len(text) > maxAnswerBytes {
		return e, bad("is too long")
	}
	if json.Unmarshal([]byte(text), &e) != nil { // its error would quote the model
		return e, bad("is not JSON of the schema")
	}
	if !slices.Contains(classes, e.TemporalClass) {
		return e, bad("has a temporal_class that is none of " + strings.Join(classes, ", "))
	}
	return e, nil
}

// markup is what no keyword needs of HTML, Markdown and addresses. Keywords and names are
// displayed, so what a model derived from untrusted text must not act as markup.
var markup = regexp.MustCompile("[<>\\[\\]{}|\\\\`]|://")

// confirmed returns what may be stored: normalised keywords and entities that occur in the text,
// without duplicates.
func (e enrichment) confirmed(text string) enrichment {
	kept := enrichment{Keywords: []string{}, NamedEntities: []entity{}, TemporalClass: e.TemporalClass}
	for _, keyword := range e.Keywords {
		keyword = strings.TrimFunc(fold(keyword), func(r rune) bool { return !inWord(r) && r != '+' && r != '#' }) // c++, c#
		if strings.ContainsFunc(keyword, inWord) && !markup.MatchString(keyword) && utf8.RuneCountInString(keyword) <= maxKeyword &&
			!slices.Contains(kept.Keywords, keyword) && len(kept.Keywords) < maxKeywords {
			kept.Keywords = append(kept.Keywords, keyword)
		}
	}
	text = fold(text)
	words := separated(text)
	seen := map[entity]bool{}
	for _, found := range e.NamedEntities[:min(len(e.NamedEntities), 2*maxEntities)] {
		found.Name = oneLine(found.Name)
		key := entity{fold(found.Name), found.Type}
		if slices.Contains(types, found.Type) && !strings.ContainsAny(found.Name, "<>") && utf8.RuneCountInString(found.Name) <= maxName &&
			strings.Contains(text, key.Name) && strings.Contains(words, separated(key.Name)) && !seen[key] && len(seen) < maxEntities {
			seen[key] = true
			kept.NamedEntities = append(kept.NamedEntities, found)
		}
	}
	return kept
}

// oneLine returns a text in Unicode's composed form on one line, without invisible characters. NUL,
// which Postgres rejects, is one of these.
func oneLine(text string) string {
	text = strings.ReplaceAll(clean.Printable(text), "\uFFFD", "")
	return strings.Join(strings.Fields(norm.NFC.String(text)), " ")
}

// fold returns a text in the lower-case form in which names and keywords are compared.
func fold(text string) string { return strings.ToLower(oneLine(text)) }

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// edges are what separates words. The characters of scripts without spaces are words.
var edges = regexp.MustCompile(`[^\pL\pM\pN]+|([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])`)

// separated returns the words of a text, each between spaces: " ana " is not in " analysis ".
func separated(text string) string {
	return " " + strings.Join(strings.Fields(edges.ReplaceAllString(text, " $1 ")), " ") + " "
}
