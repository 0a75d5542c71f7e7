package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxAddress is the maximum length of an address in bytes. A longer one is treated as not found
	// in any source.
	maxAddress = 2 << 10
	// removed replaces an address that occurs in no source.
	removed = "(link removed)"
)

// beginnings are the prefixes that Markdown renderers and many other programs turn into links.
var beginnings = []string{"http://", "https://", "ftp://", "www."}

// addresses finds the addresses in a text. An address that occurs in a source passes. Any other web
// address is replaced and any other email address is split with a blank: many clients turn both
// into links, and a click would send its server whatever the model wrote into it.
type addresses struct {
	out      *output
	known    *known
	held     []byte // an address or its possible start
	state    state
	previous rune
}

type state int

const (
	plain     state = iota
	beginning       // held is a prefix of one of beginnings
	web             // held is an address so far
	long            // held got too long for an address and is dropped up to its end
	mail            // held is @ and a domain so far
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

// begins reports whether text is a prefix of one of beginnings (begun), or equals one (whole).
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

// pass writes text that is not an address.
func (a *addresses) pass(text string) {
	for _, r := range text {
		a.out.take(r)
		a.previous = r
	}
}

// end finishes the current address, before a checked part and at the end of the text.
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

// closing are characters that end a sentence or quotation rather than an address. At most
// maxClosing of them may follow one.
const (
	closing    = ".,;:!?'\")]}>*_~|`"
	maxClosing = 8
)

func (a *addresses) endWeb(held string) {
	if strings.Trim(strings.TrimPrefix(held[strings.IndexAny(held, "/.")+1:], "/"), closing) == "" { // only http:// and nothing after it
		a.out.seal(held)
		return
	}
	ascii := held
	if i := strings.IndexFunc(held, func(r rune) bool { return r >= utf8.RuneSelf }); i > 0 {
		ascii = held[:i] // the rest may be text in a script without spaces
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

// rest handles what follows an address as text, which may contain another address.
func (a *addresses) rest(held string) {
	a.previous = 0
	for _, r := range held {
		a.take(r)
	}
}

// inMailbox are the characters besides letters and digits that may occur before the @.
const inMailbox = ".!#$%&'*+/=?^_`{|}~-"

// mailbox returns the local part at the end of the text before an @.
func mailbox(before string) string {
	name := before[strings.LastIndexFunc(before, func(r rune) bool { return !asciiWord(r) && !strings.ContainsRune(inMailbox, r) })+1:]
	return strings.TrimLeft(name, "*_~`'") // emphasis, or a quotation
}

// endMail splits an email address that occurs in no source, so that no client links it.
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
