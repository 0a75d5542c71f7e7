package clean

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// brackets are those of citations.
const brackets = opening + closing

const opening, closing = "[［【〔〖⟦❲", "]］】〕〗⟧❳"

// The parts of a citation. labels are what models call sources, in the languages they answer in.
const (
	opens  = `\` + opening
	closes = `\` + closing
	labels = `sources?|src|docs?|documents?|ref(?:erence)?s?|cit(?:e|ation)s?|passages?|chunks?|excerpts?|snippets?|contexts?|footnotes?|id|` +
		`quellen?|dokumente?|belege?|fuentes?|documentos?|fontes?|fonti|bron(?:nen)?|k[äi]ll(?:a|or)|kilder?|lähde|źródł[oa]|zdroje?|kaynak|источники?|документы?|джерел[оа]|` +
		`来源|來源|出典|出处|出處|资料|資料|文档|文献|参考|參考|출처|문서|المصدر|مصدر|منبع|מקור|πηγή|nguồn|sumber`
	sign     = `[\^#№@]`
	lead     = `(?:(?:(?:` + labels + `)[\s\p{Z}.:：#=_"'-]*|` + sign + `)[\s\p{Z}]*){0,3}`
	joint    = `and|und|et|y|e|и|和|与|及`
	through  = `to|through|bis|a|à|до|至|到`
	dash     = `\-‐‑‒–—−~～〜`
	interval = `(?:[\s\p{Z}]*[` + dash + `][\s\p{Z}]*|[\s\p{Z}]+(?:` + through + `)[\s\p{Z}]+)`
	item     = lead + `\p{Nd}+["^]?(?:` + interval + lead + `\p{Nd}+["^]?)?`
	gap      = `[\s\p{Z},;，、；&]`
	between  = `(?:` + gap + `+(?:(?:` + joint + `)` + gap + `+)?|[和与])`
)

var (
	// citation matches a reference to numbered sources in a form that models write: [1], [1, 2],
	// [1-3], ［1］, 【1†source】, [^1], [Source 1], [doc1], \[1\]. Its group is what the brackets hold.
	citation = regexp.MustCompile(`(?i)\\?[` + opens + `](` + gap + `*` + item + `(?:` + between + item + `)*` + gap + `*(?:(?::\p{Nd}+)?†[^` + opens + closes + `]{0,80})?)\\?[` + closes + `]`)
	// unfinished matches the end of a text that may go on as a citation.
	unfinished = regexp.MustCompile(`(?i)\\?[` + opens + `](?:` + partial + `){0,60}(?:†[^` + opens + closes + `]{0,80})?\\?$`)
	// numbered finds the numbers and ranges of a citation's group.
	numbered = regexp.MustCompile(`(?i)(?:†.*|:\p{Nd}+†.*)|(\p{Nd}+)["^]?(?:` + interval + lead + `(\p{Nd}+))?`)

	begun = regexp.MustCompile(`(?i)^((?:` + partial + `){0,60})[` + closes + `]`)
)

const partial = labels + `|` + joint + `|` + through + `|[\p{Nd}\s\p{Z},;，、；&.:：=_"'^#№@` + dash + `]`

// Uncite gives what reads as a citation of one of so many sources round brackets, except in code
// and, if it is a source's own text, after a word, where a Checker finds it in the source.
func Uncite(text string, sources int, isSource bool) string {
	text = maskCode(text, "")
	var out strings.Builder
	done, c := 0, Checker{cited: make([]bool, sources)}
	for _, at := range citation.FindAllStringSubmatchIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		if _, known := c.readCitation(text[at[2]:at[3]]); known && !(isSource && indexed(before) && at[0] != done) {
			out.WriteString(text[done:at[0]] + "(" + text[at[2]:at[3]] + ")")
			done = at[1]
		}
	}
	return unmasked(out.String()+text[done:], firstMask)
}

// active is what Markdown makes a link, an image, an element or a bracket of, if nothing stands
// after its first character.
var active = regexp.MustCompile(`\][(:\[]|!\[|<[A-Za-z/!?]|&(?:#|[lr](?:sqb|brack))`)

// Value returns a stored value as a part of an answer: one visible line without citations, not even
// a half of one, links, images and elements, cut to a number of characters.
func Value(text string, characters int) string {
	line := Line(text, characters+1)
	if runes := []rune(line); len(runes) > characters {
		line = string(runes[:characters-1]) + "…"
	}
	line = begun.ReplaceAllString(citation.ReplaceAllString(line, "($1)"), "$1)")
	for at := unfinished.FindStringIndex(line); at != nil; at = unfinished.FindStringIndex(line) {
		line = line[:at[0]] + "(" + strings.TrimLeft(line[at[0]:], `\`+opening)
	}
	for range 2 { // <![ has two
		line = active.ReplaceAllStringFunc(line, func(found string) string { return found[:1] + " " + found[1:] })
	}
	return line
}
