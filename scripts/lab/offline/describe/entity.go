package describe

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"tasklens/scripts/lab/offline/lexicon"
)

//go:embed names.txt
var namesText string

// maxEntities limits the names of one document.
const maxEntities = 40

// names maps the known names, in lower case, to their types. Loaded on first use.
var names = sync.OnceValue(func() map[string]string {
	known, kind := map[string]string{}, ""
	for line := range strings.Lines(namesText) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "["):
			kind = strings.Trim(line, "[]")
		case !strings.HasPrefix(line, "#"):
			for _, name := range strings.Fields(line) {
				known[strings.ReplaceAll(name, "_", " ")] = kind
			}
		}
	}
	return known
})

var (
	ticketKey = regexp.MustCompile(`\b[A-Z]{2,6}-\d{1,6}\b`)
	// standards look like ticket keys.
	standards = regexp.MustCompile(`^(?:UTF|SHA|ISO|AES|RFC|TLS|WCAG|MD|EN|COVID)-`)
	// component matches the name of a program, machine or setting between backticks.
	component   = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)+)`")
	capitalised = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’.-]\p{L}[\p{L}\p{M}\p{N}]*)*`)
	addressed   = regexp.MustCompile(`\b(?:Mr|Mrs|Ms|Dr|Herrn?|Frau)\.? (\p{Lu}[\p{L}\p{M}'’-]+)`)
	company     = regexp.MustCompile(`^(?:GmbH|AG|Inc|Ltd|LLC|SE|SA|Bank|University)$`)
)

// entities finds ticket keys, component names between backticks, known names, names that continue a
// known one, and other unknown words capitalised within a sentence.
func entities(title, content string) []Entity {
	f := finder{seen: map[Entity]bool{}, list: []Entity{}}
	f.line(title, false)
	fenced, english := false, isEnglish(content)
	for line := range strings.Lines(content) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			f.line(line, english && !strings.HasPrefix(line, "#"))
		}
	}
	return f.list[:min(len(f.list), maxEntities)]
}

type finder struct {
	seen map[Entity]bool
	list []Entity
}

func (f *finder) add(name, kind string) {
	if e := (Entity{withoutS(name), kind}); !f.seen[e] {
		f.seen[e] = true
		f.list = append(f.list, e)
	}
}

// line finds the names in a line. Only in prose do capitals mark names.
func (f *finder) line(line string, prose bool) {
	for _, found := range component.FindAllStringSubmatch(line, -1) {
		f.add(found[1], "system")
	}
	line = withoutCode.ReplaceAllString(line, "`") // names in code are not people
	for _, found := range addressed.FindAllStringSubmatch(line, -1) {
		f.add(found[1], "person")
	}
	line = addressed.ReplaceAllString(line, "\x00")
	for _, key := range ticketKey.FindAllString(line, -1) {
		if !standards.MatchString(key) {
			f.add(key, "ticket")
		}
	}
	line = ticketKey.ReplaceAllString(line, "\x00")
	spans := capitalised.FindAllStringIndex(line, -1)
	for len(spans) > 0 {
		run := 1
		for run < len(spans) && line[spans[run-1][1]:spans[run][0]] == " " {
			run++
		}
		f.run(line, spans[:run], prose)
		spans = spans[run:]
	}
}

var withoutCode = regexp.MustCompile("`[^`]*`")

// run finds the names in a run of capitalised words.
func (f *finder) run(line string, spans [][]int, prose bool) {
	text := func(from, to int) string { return line[spans[from][0]:spans[to-1][1]] }
	for i := 0; i < len(spans); {
		kind, n := "", 0
		for length := min(3, len(spans)-i); length > 0 && n == 0; length-- {
			if known := names()[strings.ToLower(norm.NFC.String(withoutS(text(i, i+length))))]; known != "" {
				kind, n = known, length
			}
		}
		for kind == "person" && i+n < len(spans) && !isWord(text(i+n, i+n+1)) { // a surname
			n++
		}
		if n == 0 {
			if end := i + 1; end < len(spans) && company.MatchString(text(end, end+1)) {
				kind, n = "organization", 2
			} else if prose && !isWord(text(i, end)) && len(text(i, end)) > 2 {
				kind, n = "other", 1
				for i+n < len(spans) && !isWord(text(i+n, i+n+1)) && names()[strings.ToLower(text(i+n, i+n+1))] == "" {
					n++
				}
				if !within(line[:spans[i][0]]) {
					// A sentence starts with a capital, so its first word may or may not belong to
					// the name after it.
					if n--; n > 0 {
						f.add(text(i, end+n), kind)
						i = end
					}
				}
			}
		}
		if n > 0 {
			f.add(text(i, i+n), kind)
		}
		i += max(1, n)
	}
}

// isWord reports whether the lexicon knows a text as an ordinary word.
func isWord(text string) bool {
	stem := lexicon.Stem(strings.ToLower(text))
	return lexicon.Default().Knows(stem) || capitals[strings.ToLower(text)]
}

// capitals are words that English capitalises and that are not names here.
var capitals = wordSet(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
	sundays january february march april may june july august september october november december english german french swiss
	polish japanese spanish italian utc eur usd chf api url sql json html css http https id ui ux ok mr mrs ms dr`)

// isEnglish reports whether capitals within sentences mark names: in German every noun has one. A
// text is English if a quarter of its words are among the commonest English ones.
func isEnglish(text string) bool {
	words, common := 0, 0
	for _, w := range word.FindAllString(text, 400) {
		words++
		if lexicon.Default().Weight(strings.ToLower(w)) == 0 {
			common++
		}
	}
	return 4*common >= words
}

// within reports whether the text after before is inside a sentence.
func within(before string) bool {
	before = strings.TrimRight(before, " \t\"'“„«(*_")
	return before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?:|>-#`\x00") && !strings.HasSuffix(before, "…")
}
