// Package clean takes out of a text what people do not see but models and programs read, and breaks the marks by which
// models tell roles apart. It knows nothing of prompts and answers.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text without its invisible characters: controls apart from line breaks and tabs, directions of text, and
// what Unicode calls ignorable. Joiners and emoji selectors stay where a script or an emoji needs them. Broken UTF-8
// becomes U+FFFD.
func Visible(text string) string {
	var f Filter
	return strings.Map(f.Map, strings.ToValidUTF8(text, "\uFFFD"))
}

// Line is a visible text on one line, cut to so many characters: a name that another service made up.
func Line(text string, characters int) string {
	runes := []rune(strings.Join(strings.Fields(Visible(text[:min(len(text), 8*characters)])), " "))
	return string(runes[:min(len(runes), characters)])
}

// Beginning is that of a text whose visible part has at most so many bytes. It ends with a visible character.
func Beginning(text string, size int) string {
	var f Filter
	end := 0
	for i, r := range text {
		if kept := f.Map(r); kept >= 0 {
			if size -= utf8.RuneLen(kept); size < 0 {
				break
			}
			_, length := utf8.DecodeRuneInString(text[i:])
			end = i + length
		}
	}
	return text[:end]
}

// Filter takes invisible characters out of a text that comes character by character.
type Filter struct{ previous rune } // the last that stayed

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textSelector       = '\ufe0e'
	emojiSelector      = '\ufe0f'
)

// Map gives what a character becomes, -1 for nothing.
func (f *Filter) Map(r rune) rune {
	switch {
	case ' ' <= r && r < 0x7F: // most of all
	case r == '\u0085' || r == '\u2028' || r == '\u2029':
		r = '\n'
	case r == '\u2800': // a blank of Braille, which shows nothing and is no white space to programs
		r = ' '
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		if !joins(f.previous) {
			return -1
		}
	case r == textSelector || r == emojiSelector:
		if !unicode.Is(unicode.So, f.previous) {
			return -1
		}
	case r != '\n' && r != '\t' && unicode.Is(unicode.Cc, r) || ignorable(r) || blank(r):
		return -1
	}
	f.previous = r
	return r
}

// joins is true of what a joiner may follow: letters and marks of scripts that have joiners, and emoji. One that follows
// anything else, or another joiner, joins nothing and can only hide something.
func joins(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.L, unicode.M, unicode.So, unicode.Sk)
}

// ignorable is Unicode's Default_Ignorable_Code_Point, derived as in UAX 44 from the properties that package unicode has,
// and the interlinear annotations, which the standard leaves to the program.
func ignorable(r rune) bool {
	switch {
	case r < 0xAD: // the first of them
		return false
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark), 0x13430 <= r && r <= 0x13440:
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// blank is true of fillers without a shape that Unicode does not call ignorable: Khitan's and a musical one.
func blank(r rune) bool { return r == 0x16FE4 || r == 0x1D159 }
