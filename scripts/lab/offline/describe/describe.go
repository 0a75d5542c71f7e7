// Package describe is how the offline chat model describes a document: its keywords, the names in
// it, and how long it stays valid. It counts and looks up words and understands nothing. It does
// not know HTTP, nor how the description is used.
package describe

import (
	"cmp"
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"tasklens/scripts/lab/offline/words"
)

// Description is the description of a document. Its JSON is the response.
type Description struct {
	Keywords      []string `json:"keywords"` // most relevant first, in lower case
	NamedEntities []Entity `json:"named_entities"`
	TemporalClass string   `json:"temporal_class"` // evergreen, current, dated, historical or unknown
}

// Entity is a name in the text, and its type.
type Entity struct {
	Name string `json:"name"`
	Type string `json:"type"` // person, organization, system, place or ticket
}

// Document describes a document. It is deterministic.
func Document(title, content string) Description {
	return Description{Keywords: keywords(title, content), NamedEntities: entities(title + "\n" + content), TemporalClass: temporalClass(title, content)}
}

const (
	maxKeywords = 10
	maxEntities = 40
	inTitle     = 4   // the weight of a word in the title, in occurrences in the text
	telling     = 0.8 // the least weight of a keyword: every other text has a page, a file and a name
)

var word = regexp.MustCompile(`\pL[\pL\pM\pN]*(?:[-_.][\pL\pM\pN]+)*`)

// keywords returns the words of the title, and those that stand more than once, with the highest
// frequency relative to how common they are.
func keywords(title, content string) []string {
	scores, shown := map[string]float64{}, map[string]string{} // by stem
	count := func(text string, times float64) {
		for _, found := range word.FindAllString(strings.ToLower(text), -1) {
			stem := words.Stem(found)
			if weight := words.Weight(stem); weight >= telling && len(stem) > 2 && names()[found] != "person" {
				scores[stem] += times * weight
				shown[stem] = cmp.Or(shown[stem], found)
			}
		}
	}
	count(title, inTitle)
	count(content, 1)
	maps.DeleteFunc(scores, func(_ string, score float64) bool { return score < 1.5 }) // a single mention
	stems := slices.SortedFunc(maps.Keys(scores), func(a, b string) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	chosen := []string{}
	for _, stem := range stems[:min(len(stems), maxKeywords)] {
		chosen = append(chosen, shown[stem])
	}
	return chosen
}

//go:embed names.txt
var namesText string

// names maps the known names, in lower case, to their types.
var names = sync.OnceValue(func() map[string]string {
	known, kind := map[string]string{}, ""
	for line := range strings.Lines(namesText) {
		switch {
		case strings.HasPrefix(line, "["):
			kind = strings.Trim(line, "[]\n")
		case !strings.HasPrefix(line, "#"):
			for _, name := range strings.Fields(line) {
				known[strings.ReplaceAll(name, "_", " ")] = kind
			}
		}
	}
	return known
})

var (
	block     = regexp.MustCompile("(?s)```.*?(?:```|$)")
	ticketKey = regexp.MustCompile(`\b[A-Z]{2,6}-\d{1,6}\b`)
	// name is the name of a program or a setting between backticks, or words with capitals.
	name = regexp.MustCompile("`([A-Za-z][\\w]*(?:[-.][\\w]+)+)`|(\\p{Lu}[\\pL\\pM\\pN]*(?:\\.js)?(?:[ -]\\p{Lu}[\\pL\\pM]*)*)")
	// standards look like ticket keys.
	standards = regexp.MustCompile(`^(?:UTF|SHA|ISO|AES|RFC|TLS|WCAG|MD|EN)-`)
)

// entities finds ticket keys, component names between backticks, and known names, with a surname
// after that of a person.
func entities(text string) []Entity {
	list := []Entity{}
	add := func(name, kind string) {
		if e := (Entity{name, kind}); !slices.Contains(list, e) && len(list) < maxEntities {
			list = append(list, e)
		}
	}
	text = block.ReplaceAllString(text, "")
	for _, key := range ticketKey.FindAllString(text, -1) {
		if !standards.MatchString(key) {
			add(key, "ticket")
		}
	}
	for _, m := range name.FindAllStringSubmatch(ticketKey.ReplaceAllString(text, ""), -1) {
		switch run := strings.Fields(m[2]); {
		case m[1] != "":
			add(m[1], "system")
		default:
			for i := 0; i < len(run); i++ {
				two := strings.Join(run[i:min(len(run), i+2)], " ")
				kind := names()[strings.ToLower(run[i])]
				switch next, _ := strings.CutPrefix(two, run[i]+" "); {
				case names()[strings.ToLower(two)] != "":
					add(two, names()[strings.ToLower(two)])
					i++
				case kind == "person" && next != two && words.Weight(words.Stem(strings.ToLower(next))) == 1 && names()[strings.ToLower(next)] == "":
					add(two, kind)
					i++
				case kind != "":
					add(run[i], kind)
				}
			}
		}
	}
	return list
}

// cues are words at the start of a text that say how long it is valid. The first that is found
// counts.
var cues = []struct {
	class string
	cue   *regexp.Regexp
}{
	{"historical", regexp.MustCompile(`(?i)\b(?:superseded|obsolete|deprecated|decommissioned|retired|no longer|(?:was|been) replaced by|kept for)\b`)},
	// Instructions stay valid until replaced, whatever they are about.
	{"evergreen", regexp.MustCompile(`(?i)^(?:how|runbook|playbook|guide|checklist|decision)\b`)},
	{"dated", regexp.MustCompile(`(?i)\b(?:post-?mortem|incident (?:report|review)|minutes of the|meeting notes|notes (?:from|of) the|retro(?:spective)?|release notes|workshop|interview|timeline|participants)\b`)},
	{"current", regexp.MustCompile(`(?i)\b(?:current(?:ly)?|as of|at the moment|right now|rota|roadmap|this (?:week|month|quarter|year)|until further notice|in progress|planned)\b`)},
}

const opening = 700 // bytes

func temporalClass(title, content string) string {
	content = content[:min(len(content), opening)]
	for _, c := range cues {
		if c.cue.MatchString(title + "\n" + content) {
			return c.class
		}
	}
	if strings.ContainsFunc(content, unicode.IsLetter) {
		return "evergreen"
	}
	return "unknown"
}
