package reply

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// output assembles the text from characters and checked parts. It inserts a blank wherever two
// neighbours would form an unchecked link, address, image or citation. It looks only at what is
// written, not at what was removed in between.
type output struct {
	text   strings.Builder
	full   bool // MaxBytes is reached
	cited  []bool
	blanks []byte // buffered: dropped at both ends of the text and before a removed citation

	gone      bool // a citation was removed here and nothing was written since
	sealed    bool // a checked address ends here: the next character would extend it
	lineStart bool // the line so far has only what may start a paragraph, such as > or 1.
	label     bool // a bracket is open at the start of a line: perhaps the label of a link definition
	labelled  bool // the last character closed it
	citing    bool // since the last open bracket, only characters of a citation
	digits    bool // including a digit
	scheme    int  // length of <scheme so far, counted from 1; 0 outside of one
	autolink  bool // <scheme: without a blank since, which > would turn into a link
}

// mayCite are the characters that a citation may contain between its brackets.
const mayCite = "0123456789,;-– \t\n"

// take writes one character.
func (o *output) take(r rune) {
	if unicode.IsSpace(r) {
		o.blanks = utf8.AppendRune(o.blanks, r)
		return
	}
	if !o.passBlanks() && o.parted(r) {
		o.write(" ")
	}
	if r == ']' && o.citing && o.digits {
		o.write("…") // the model's own brackets, as in [[9]1], were not parsed as a citation
	}
	escaped := o.last() == '\\'
	o.write(string(r))
	o.note(r, escaped)
}

// parted reports whether a blank is needed before this character.
func (o *output) parted(r rune) bool {
	switch {
	case o.text.Len() == 0:
		return false
	case o.gone && !strings.ContainsRune(`.,;:!?)]}>"'*_`, r), o.sealed && r != '<', o.autolink && r == '>': // List<std::string > is still code
		return true
	case r == '(':
		return o.last() == ']'
	case r == ':':
		return o.labelled
	case r == '/':
		tail := strings.ToLower(o.tail(8))
		return strings.HasSuffix(tail, "http:/") || strings.HasSuffix(tail, "https:/") || strings.HasSuffix(tail, "ftp:/")
	case r == '.':
		tail := o.tail(4)
		return strings.EqualFold(strings.TrimLeftFunc(tail, func(r rune) bool { return !inName(r) }), "www")
	}
	return false
}

// note updates the state that the next characters are judged by.
func (o *output) note(r rune, escaped bool) {
	o.gone, o.sealed, o.labelled = false, false, false
	o.autolink = (o.autolink || r == ':' && o.scheme >= 3) && r != '<' && r != '>'
	switch {
	case r == '<':
		o.scheme = 1
	case o.scheme > 0 && r < utf8.RuneSelf && (unicode.IsLetter(r) || o.scheme > 1 && (unicode.IsDigit(r) || strings.ContainsRune("+.-", r))):
		o.scheme++
	default:
		o.scheme = 0
	}
	switch {
	case r == '[':
		o.citing, o.digits = true, false
		o.label = o.label || o.lineStart
	case r == ']':
		o.citing = false
		o.labelled, o.label = o.label, o.label && escaped
	case '0' <= r && r <= '9':
		o.digits = true
	}
	o.citing = o.citing && (r == '[' || o.digits && strings.ContainsRune(mayCite, r))
	o.lineStart = o.lineStart && strings.ContainsRune(">-*+#.)|~:0123456789", r)
}

// passBlanks writes the buffered blanks and reports whether there were any.
func (o *output) passBlanks() bool {
	if len(o.blanks) == 0 {
		return false
	}
	blanks := string(o.blanks)
	o.blanks = o.blanks[:0]
	lines := strings.Count(blanks, "\n")
	o.lineStart = o.lineStart || lines > 0
	o.label = o.label && lines < 2
	o.citing = o.citing && strings.Trim(blanks, mayCite) == ""
	o.gone, o.sealed, o.labelled, o.autolink, o.scheme = false, false, false, false, 0
	if o.text.Len() == 0 {
		return false
	}
	o.write(blanks)
	return true
}

// cite writes citations, numbered from 1.
func (o *output) cite(numbers []int) {
	o.passBlanks()
	if o.sealed || o.last() == '!' { // some clients would render ![1] as an image
		o.write(" ")
	}
	for _, number := range numbers {
		if o.write("[" + strconv.Itoa(number) + "]"); !o.full {
			o.cited[number-1] = true
		}
	}
	labelled := o.label || o.lineStart
	o.note('0', false)
	o.labelled, o.label, o.citing = labelled, false, false
}

// remove records a removed citation and drops the blanks before it.
func (o *output) remove() {
	for len(o.blanks) > 0 && strings.IndexByte(" \t", o.blanks[len(o.blanks)-1]) >= 0 {
		o.blanks = o.blanks[:len(o.blanks)-1]
	}
	o.gone = true
}

// seal writes a checked address. The next character needs a blank before it.
func (o *output) seal(address string) {
	if !o.passBlanks() && (o.parted('a') || o.scheme > 1 || o.autolink) { // <a.http://… would have another scheme
		o.write(" ")
	}
	o.write(address)
	o.note('a', false)
	o.sealed = true
}

// beginLink opens the text of a checked link. endLink closes it with its target.
func (o *output) beginLink() {
	if !o.passBlanks() && (o.parted('a') || o.last() == '!') {
		o.write(" ")
	}
	o.write("[")
	o.note('a', false)
}

func (o *output) endLink(target string) {
	o.passBlanks()
	o.write("](" + target + ")")
	o.note(')', false)
}

// write appends as much of the text as fits into MaxBytes.
func (o *output) write(text string) {
	if o.full = o.full || o.text.Len()+len(text) > MaxBytes; !o.full {
		o.text.WriteString(text)
	}
}

func (o *output) last() rune {
	r, _ := utf8.DecodeLastRuneInString(o.text.String())
	return r
}

// tail returns the last size bytes of the text.
func (o *output) tail(size int) string {
	text := o.text.String()
	return text[max(0, len(text)-size):]
}
