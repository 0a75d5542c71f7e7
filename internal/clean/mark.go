package clean

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters that people, or a server that normalises its input, read as the first of each.
const (
	bars         = "|｜¦│┃║╎╏┆┇┊┋❘❙❚∣∥⏐ǀǁ‖￨⎸⎹▏▕⼁丨︱︳"
	lessThans    = "<＜﹤˂ᐸ‹❮❰⟨⧼〈〈"
	greaterThans = ">＞﹥˃ᐳ›❯❱⟩⧽〉〉"
	opens        = lessThans + "«《⟪≪[［【"
	closes       = greaterThans + "»》⟫≫]］】"
)

// Prompt returns the visible part of a text with role marks broken by a blank: the marks by which
// models separate roles, turns, tools and reasoning. A tokenizer recognises its model's marks only
// if they match exactly. Marks are detected by their shape, not from a list.
func Prompt(text string) string {
	text = Visible(text)
	var out strings.Builder
	done := 0
	previous := rune(0)
	for i, r := range text {
		if r >= utf8.RuneSelf || strings.ContainsRune("<>[]|", r) {
			if after := i + utf8.RuneLen(r); begins(previous, r, text[after:]) {
				out.WriteString(text[done:after])
				out.WriteByte(' ')
				done = after
			}
		}
		previous = r
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// begins reports whether a character and the following text are a mark, or the end of one.
func begins(previous, r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune(bars, r): // the end of <|im_start|>, <｜User｜>, [|user|]
		return next != utf8.RuneError && strings.ContainsRune(closes, next)
	case strings.ContainsRune(opens, r) && next != utf8.RuneError && strings.ContainsRune(bars, next): // their start
		return true
	case strings.ContainsRune(lessThans, r):
		return tag(rest)
	case r == '[' || r == '［':
		return bracketed(rest)
	case r == ']':
		return tilde.MatchString(rest[:min(len(rest), 32)])
	case r == '>' && previous == '>':
		return title.MatchString(rest[:min(len(rest), 32)])
	}
	return false
}

var (
	tilde = regexp.MustCompile(`^~!?[a-z]+[][]`) // ]~b], ]~!b[
	title = regexp.MustCompile(`^[A-Z_]{2,}<<`)  // >>QUESTION<<
	edge  = regexp.MustCompile(`^[a-z]~\[`)      // [e~[
	types = regexp.MustCompile(`^([0-9]+|[iuf][0-9]+|[A-RT-Z]|[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)$`)
)

// tag reports whether rest continues a tag whose name is neither HTML nor a type, unlike <div> and
// List<String>: for example <tool_call>, <start_of_turn>, </s>, <think>, <seed:bos>, or one of a
// future model.
func tag(rest string) bool {
	rest = strings.TrimPrefix(rest, "/")
	end := strings.IndexFunc(rest, func(r rune) bool { return !inName(r) && r != ':' && r != '-' })
	if end <= 0 || strings.ContainsRune(":-", rune(rest[0])) || rest[end-1] == ':' {
		return false
	}
	name, rest := rest[:end], rest[end:]
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsSpace(next) || next == '=' || next == '/' { // attributes
		rest = rest[max(0, strings.IndexAny(rest, lessThans+greaterThans+"\n")):]
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return next != utf8.RuneError && strings.ContainsRune(greaterThans, next) && !ordinary[strings.ToLower(name)] && !types.MatchString(name)
}

// bracketed reports whether rest continues a mark such as [INST], [/INST], [TOOL_CALLS] or [gMASK],
// and not an index: it has a slash before its name, or two capital letters.
func bracketed(rest string) bool {
	if edge.MatchString(rest[:min(len(rest), 3)]) {
		return true
	}
	name := strings.TrimPrefix(rest, "/")
	end := strings.IndexFunc(name, func(r rune) bool { return !inName(r) })
	if end <= 0 {
		return false
	}
	if next, _ := utf8.DecodeRuneInString(name[end:]); next != ']' && next != '］' {
		return false
	}
	capitals := 0
	for _, r := range name[:end] {
		if unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals >= 2 || rest[0] == '/' || strings.EqualFold(name[:end], "inst")
}

func inName(r rune) bool {
	return r == '_' || r == '▁' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// ordinary are HTML elements and common names of simple types, except those that are also a model's
// marks: <s>, <img>, <video>.
var ordinary = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`a abbr address article aside b blockquote body br button caption center cite code col colgroup
		dd del details dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe input
		ins kbd label legend li link main meta nav ol optgroup option p pre q samp script section select small span strike strong style
		sub summary sup table tbody td textarea tfoot th thead title tr tt u ul var wbr
		any bool boolean byte char double float int integer isize long number object short str string uint usize void`) {
		names[name] = true
	}
	return names
}()
