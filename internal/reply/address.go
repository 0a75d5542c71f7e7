package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxAddress is the greatest length of an address in bytes. A longer one counts as one that stands in no source.
	maxAddress = 2 << 10
	// removed stands for an address that stands in no source.
	removed = "(link removed)"
)

// beginnings are what readers of Markdown, and many other programs, make a link of.
var beginnings = []string{"http://", "https://", "ftp://", "www."}

// addresses looks for the addresses of a text. One that stands in a source goes on; another is replaced, and a mail
// address parted, because many clients make links of them: the reader's click would tell its server what the model wrote
// into it.
type addresses struct {
	out      *output
	known    *known
	held     []byte // what may become an address, or is one
	state    state
	previous rune
}

type state int

const (
	plain     state = iota
	beginning       // the held is the beginning of one of beginnings
	web             // the held is an address so far
	long            // the held was too long for one and is left out up to its end
	mail            // the held is @ and a domain so far
)

func (a *addresses) take(r rune) {
	switch a.state {
	case beginning:
		a.held = utf8.AppendRune(a.held, r)
		switch begun, whole := begins(string(a.held)); {
		case whole:
			a.state = web
		case !begun:
			held := string(a.held[:len(a.held)-utf8.RuneLen(r)])
			a.reset()
			a.pass(held)
			a.take(r)
		}
	case web, long:
		switch {
		case unicode.IsSpace(r) || r == '<' || r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N):
			a.finish()
			a.take(r)
		case a.state == long:
		case len(a.held) >= maxAddress:
			a.reset()
			a.pass(removed)
			a.state = long
		default:
			a.held = utf8.AppendRune(a.held, r)
		}
	case mail:
		if len(a.held) >= maxAddress || !inDomain(r) {
			a.finish()
			a.take(r)
			return
		}
		a.held = utf8.AppendRune(a.held, r)
	default:
		begun, _ := begins(string(r))
		switch {
		case begun && !asciiWord(a.previous):
			a.state = beginning
			a.held = utf8.AppendRune(a.held, r)
		case r == '@' && a.previous < utf8.RuneSelf && a.previous > ' ' && a.previous != '<':
			a.state = mail
			a.held = append(a.held, '@')
		default:
			a.out.take(r)
			a.previous = r
		}
	}
}

// begins says whether a text is the beginning of one of beginnings, or one as a whole.
func begins(text string) (begun, whole bool) {
	for _, beginning := range beginnings {
		if len(text) <= len(beginning) && strings.EqualFold(text, beginning[:len(text)]) {
			return true, len(text) == len(beginning)
		}
	}
	return false, false
}

func inDomain(r rune) bool { return asciiWord(r) || r == '.' || r == '-' || r == '_' }

func asciiWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (a *addresses) reset() { a.held, a.state = a.held[:0], plain }

// pass lets a text go on that is no address.
func (a *addresses) pass(text string) {
	for _, r := range text {
		a.out.take(r)
		a.previous = r
	}
}

// end is before a part that was checked, and at the end of the text.
func (a *addresses) end() {
	a.finish()
	a.previous = 0
}

func (a *addresses) finish() {
	held, state := string(a.held), a.state
	a.reset()
	switch state {
	case beginning:
		a.pass(held)
	case web:
		a.endWeb(held)
	case mail:
		a.endMail(held)
	}
}

// closing are the characters that end a sentence or a quotation rather than an address. maxClosing of them can follow one.
const (
	closing    = ".,;:!?'\")]}>*_~|`"
	maxClosing = 8
)

func (a *addresses) endWeb(held string) {
	if strings.Trim(strings.TrimPrefix(held[strings.IndexAny(held, "/.")+1:], "/"), closing) == "" { // no more than http://
		a.out.seal(held)
		return
	}
	ascii := held
	if i := strings.IndexFunc(held, func(r rune) bool { return r >= utf8.RuneSelf }); i > 0 {
		ascii = held[:i] // what follows may be a text in a script without blanks
	}
	for _, address := range []string{held, ascii} {
		for cut := len(address); cut > 0 && len(address)-cut <= maxClosing; cut-- {
			if a.known.has(address[:cut]) {
				a.out.seal(address)
				a.rest(held[len(address):])
				return
			}
			if !strings.ContainsRune(closing, rune(address[cut-1])) {
				break
			}
		}
		if ascii == held {
			break
		}
	}
	end := len(strings.TrimRight(ascii, closing))
	if i := strings.IndexAny(ascii, "\"`>|\\^{}"); i >= 0 {
		end = min(end, i)
	}
	a.pass(removed)
	a.rest(held[end:])
}

// rest takes what came after an address as text, in which there may be another.
func (a *addresses) rest(held string) {
	a.previous = 0
	for _, r := range held {
		a.take(r)
	}
}

// inMailbox are the characters that the name before an @ can have beside letters and digits.
const inMailbox = ".!#$%&'*+/=?^_`{|}~-"

// mailbox is the name at the end of what stands before an @.
func mailbox(before string) string {
	name := before[strings.LastIndexFunc(before, func(r rune) bool { return !asciiWord(r) && !strings.ContainsRune(inMailbox, r) })+1:]
	return strings.TrimLeft(name, "*_~`'") // emphasis, or a quotation
}

// endMail parts a mail address that stands in no source, so that it is none.
func (a *addresses) endMail(held string) {
	domain := strings.TrimRight(held[1:], ".-_")
	before := a.out.tail(maxAddress)
	name := mailbox(before)
	start := strings.LastIndexAny(before, "< \t\n")
	angled := start >= 0 && before[start] == '<' || start < 0 && len(before) == maxAddress
	if domain != "" && (angled || name != "" && strings.Contains(domain, ".")) && !a.known.hasMail(name+"@"+domain) {
		a.out.take(' ')
	}
	a.pass(held)
}
