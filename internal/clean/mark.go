package clean

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// mark matches, at its start, a mark by which a tokenizer separates roles, turns, tools and
	// reasoning, or the end of one: <|im_start|>, <｜User｜>, [|user|], ]~b], [e~[, <tool_call>, [INST].
	// A name in [] has a slash before it, or two capital letters, unlike an index.
	mark = regexp.MustCompile(`^(?:<[|｜]|\[\||[|｜][>\]]|\]~!?[a-z]+[][]|\[[a-z]~\[|\[(?:/` + word + `+|` + word + `*\p{Lu}` + word + `*\p{Lu}` + word + `*|(?i:inst))\]` +
		`|</?(` + word + `(?:[\pL\pN_▁:-]*[\pL\pN_▁-])?)(?:[\s=/][^<>\n]*)?>)`)
	// types are simple names in <>, of types rather than marks.
	types = regexp.MustCompile(`^([0-9]+|[iuf][0-9]+|[A-RT-Z]|[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)$`)
)

const word = `[\pL\pN_▁]`

// Prompt returns the visible part of a text with role marks broken by a blank. A tokenizer
// recognises its model's marks only if they match exactly. Marks are detected by their shape, not
// from a list: a name in <> is one if it is neither HTML nor a type, unlike <div> and List<String>.
func Prompt(text string) string {
	text = Printable(text)
	var out strings.Builder
	done := 0
	for i, r := range text {
		if !strings.ContainsRune("<[]|｜", r) {
			continue
		}
		if m := mark.FindStringSubmatch(text[i:]); m != nil && !slices.Contains(ordinary, strings.ToLower(m[1])) && !types.MatchString(m[1]) {
			out.WriteString(text[done:i] + string(r) + " ")
			done = i + len(string(r))
		}
	}
	return out.String() + text[done:]
}

// ordinary are HTML elements and common names of simple types, except those that are also a model's
// marks: <s>, <img>, <video>.
var ordinary = strings.Fields(`a abbr address article aside b blockquote body br button caption center cite code col colgroup
	dd del details dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe input
	ins kbd label legend li link main meta nav ol optgroup option p pre q samp script section select small span strike strong style
	sub summary sup table tbody td textarea tfoot th thead title tr tt u ul var wbr
	any bool boolean byte char double float int integer isize long number object short str string uint usize void`)
