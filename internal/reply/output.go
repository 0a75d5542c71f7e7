package reply

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// output puts a text together from characters and from parts that were checked, so that no two neighbours make a link, an
// address, an image or a citation that nobody checked: it parts them by a blank. It looks at what goes out alone, whatever
// was taken out in between.
type output struct {
	text   strings.Builder
	full   bool // MaxBytes are reached
	cited  []bool
	blanks []byte // held back: dropped at either end of the text, and before a citation that is taken out

	gone      bool // a citation was taken out here, and nothing has come since
	sealed    bool // a checked address ends here: what follows would be read as more of it
	lineStart bool // only what may stand before a paragraph, such as > or 1., has come in this line
	label     bool // a bracket at the start of a line is open, which may be the label of a link's definition
	labelled  bool // it was closed by the last character
	citing    bool // only what a citation has came since the last bracket was opened
	digits    bool // with a digit
	scheme    int  // the length of <scheme so far, from 1; 0 where it is none
	autolink  bool // <scheme: and no blank since, which > would make a link of
}

// mayCite are the characters that a citation can have between its brackets.
const mayCite = "0123456789,;-– \t\n"

// take takes a character.
func (o *output) take(r rune) {
	if unicode.IsSpace(r) {
		o.blanks = utf8.AppendRune(o.blanks, r)
		return
	}
	if !o.passBlanks() && o.parted(r) {
		o.write(" ")
	}
	if r == ']' && o.citing && o.digits {
		o.write("…") // the text's own, as in [[9]1], was not read as a citation
	}
	escaped := o.last() == '\\'
	o.write(string(r))
	o.note(r, escaped)
}

// parted says that a character must not follow directly on what is there.
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

// note keeps what the next characters are looked at by.
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

// passBlanks lets the blanks go on that were held back, and says whether there were any.
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

// cite writes citations of known sources, counted from 1.
func (o *output) cite(numbers []int) {
	o.passBlanks()
	if o.sealed || o.last() == '!' { // ![1] is an image to who makes links of citations
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

// remove notes that a citation was taken out, with the blanks before it.
func (o *output) remove() {
	for len(o.blanks) > 0 && strings.IndexByte(" \t", o.blanks[len(o.blanks)-1]) >= 0 {
		o.blanks = o.blanks[:len(o.blanks)-1]
	}
	o.gone = true
}

// seal writes a checked address, after which nothing can follow directly.
func (o *output) seal(address string) {
	if !o.passBlanks() && (o.parted('a') || o.scheme > 1 || o.autolink) { // <a.http://… would have another scheme
		o.write(" ")
	}
	o.write(address)
	o.note('a', false)
	o.sealed = true
}

// beginLink opens the text of a checked link, endLink closes it with its target.
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

// write adds to the text what it has room for.
func (o *output) write(text string) {
	if o.full = o.full || o.text.Len()+len(text) > MaxBytes; !o.full {
		o.text.WriteString(text)
	}
}

func (o *output) last() rune {
	r, _ := utf8.DecodeLastRuneInString(o.text.String())
	return r
}

// tail is the end of the text, of at most so many bytes.
func (o *output) tail(size int) string {
	text := o.text.String()
	return text[max(0, len(text)-size):]
}
