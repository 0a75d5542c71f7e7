// Package clean is what stands between texts and models. Of what a model or a program reads it
// removes characters that people do not see, and breaks the marks by which models separate roles.
// Of what a model writes it checks, word by word as it comes, that citations name existing sources,
// that addresses occur in a source, and that there are no images and not too much. It knows neither
// models nor prompts, nor where sources come from.
package clean

import (
	"strings"
	"unicode"
)

// Printable returns a text without invisible characters: controls other than line breaks and tabs,
// text-direction controls, and what Unicode calls ignorable. Joiners and emoji selectors stay if a
// script or an emoji needs them. Invalid UTF-8 becomes U+FFFD.
func Printable(text string) string {
	var f Filter
	return strings.Map(f.Map, strings.ToValidUTF8(text, "\uFFFD"))
}

// Line returns the printable text on one line, cut to a number of characters. It is for names that
// come from another service.
func Line(text string, characters int) string {
	runes := []rune(strings.Join(strings.Fields(Printable(text[:min(len(text), 8*characters)])), " "))
	return string(runes[:min(len(runes), characters)])
}

// Filter removes invisible characters from a text that arrives character by character.
type Filter struct{ previous rune } // the last character that was kept

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textSelector       = '\ufe0e'
	emojiSelector      = '\ufe0f'
)

// Map returns the replacement of a character, or -1 to drop it.
func (f *Filter) Map(r rune) rune {
	switch {
	case ' ' <= r && r < 0x7F: // the common case
	case r == '\u0085' || r == '\u2028' || r == '\u2029':
		r = '\n'
	case r == '\u2800': // the Braille blank, which is invisible but not white space to programs
		r = ' '
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		if !joins(f.previous) {
			return -1
		}
	case r == textSelector || r == emojiSelector:
		if !unicode.Is(unicode.So, f.previous) {
			return -1
		}
	case r != '\n' && r != '\t' && unicode.Is(unicode.Cc, r) || ignorable(r) || isMask(r) || r == 0x16FE4 || r == 0x1D159: // two blank fillers
		return -1
	}
	f.previous = r
	return r
}

// joins reports what a joiner may follow: letters and marks of scripts that use joiners, and emoji.
// A joiner after anything else has no effect and can only hide something.
func joins(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.L, unicode.M, unicode.So, unicode.Sk)
}

// ignorable is Unicode's Default_Ignorable_Code_Point, derived as in UAX 44 from the properties in
// package unicode, plus the interlinear annotations, which the standard leaves to the program.
func ignorable(r rune) bool {
	switch {
	case r < 0xAD: // the first of them
		return false
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark), 0x13430 <= r && r <= 0x13440:
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
