package reply

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxBracket is the number of characters of an open bracket that are buffered. A longer one is
	// written as text.
	maxBracket = 500
	// maxTarget is the number of characters of a link target that are buffered.
	maxTarget = 2 << 10
	none      = -1
)

// token is one character, or one part that was already checked.
type token struct {
	kind    kind
	r       rune
	numbers []int  // of a citation
	address string // of a link or by itself
}

type kind int

const (
	character kind = iota
	citation       // of known sources
	unknown        // a citation to remove
	location
	linkBegin
	linkEnd
)

// brackets parses citations, links and images. Brackets are buffered until it is clear which of
// these they are.
type brackets struct {
	next    *addresses
	out     *output
	known   *known
	code    *code
	sources int
	unknown int // citations removed

	held     []token
	open     []int // indexes of the open brackets in held
	closed   int   // index of the bracket that the last character closed
	cites    bool  // it was a citation, which replaces it at this index
	target   []rune
	within   bool // inside the target of a link
	depth    int  // nesting of parentheses in it
	angled   bool // inside <>
	previous rune // last character written
}

func (b *brackets) take(r rune) {
	switch {
	case b.within:
		b.takeTarget(r)
		return
	case b.closed != none && r == '(':
		b.target, b.within, b.depth, b.angled = b.target[:0], true, 1, false
		return
	case b.closed != none:
		b.settle()
	}
	switch {
	case r == ']' && len(b.open) > 0:
		b.read()
		return
	case r == '\n' && len(b.open) > 0 && b.held[len(b.held)-1].r == '\n': // a bracket never spans paragraphs
		b.open = b.open[:0]
	case r == '[':
		b.open = append(b.open, len(b.held))
	}
	b.hold(r)
	if len(b.held) > maxBracket {
		b.open = b.open[:0]
	}
	b.pass()
}

func (b *brackets) hold(r rune) { b.held = append(b.held, token{r: r}) }

// pass writes what is held, unless a bracket is open or may start an image.
func (b *brackets) pass() {
	end := len(b.held)
	if len(b.open) > 0 || b.closed != none || b.within {
		return
	}
	if end > 0 && b.held[end-1].r == '!' {
		end--
	}
	for _, t := range b.held[:end] {
		b.send(t)
	}
	b.held = append(b.held[:0], b.held[end:]...)
}

func (b *brackets) send(t token) {
	b.previous = t.r
	if t.kind == character {
		b.next.take(t.r)
		return
	}
	b.next.end()
	switch t.kind {
	case citation:
		b.out.cite(t.numbers)
	case unknown:
		b.out.remove()
	case location:
		b.out.seal(t.address)
	case linkBegin:
		b.out.beginLink()
	case linkEnd:
		b.out.endLink(t.address)
	}
}

// read parses the innermost bracket, which has just been closed.
func (b *brackets) read() {
	place := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.closed, b.cites = place, false
	inside, is := b.mayCite(place)
	if !is {
		return
	}
	numbers, unknowns, is := readCitation(inside, b.sources)
	switch before := b.before(place); {
	case !is:
	case b.code.within() && (inName(before) || before == ']' || before == ')'):
		// An array index, written in the form in which the model got it.
		b.held[place].r = '('
		b.closed = none
		b.hold(')')
		b.pass()
	default:
		b.unknown += unknowns
		b.cites = true
		b.held = append(b.held[:place], token{kind: citation, numbers: numbers})
		if len(numbers) == 0 {
			b.held[place].kind = unknown
		}
	}
}

// mayCite returns the content of a bracket that contains only characters of a citation.
func (b *brackets) mayCite(place int) (inside string, is bool) {
	var text strings.Builder
	for _, t := range b.held[place+1:] {
		if t.kind != character || !strings.ContainsRune(mayCite, t.r) {
			return "", false
		}
		text.WriteRune(t.r)
	}
	return text.String(), true
}

func (b *brackets) before(place int) rune {
	if place > 0 {
		return b.held[place-1].r
	}
	return b.previous
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// settle handles a closed bracket that has no target.
func (b *brackets) settle() {
	if !b.cites {
		b.hold(']')
	}
	b.closed = none
	b.pass()
}

// takeTarget takes the next character of a link target. A character that no target may contain
// turns it into text.
func (b *brackets) takeTarget(r rune) {
	last := len(b.target) - 1
	if r == '[' || r == ']' || last+1 >= maxTarget || r == '\n' && last >= 0 && b.target[last] == '\n' {
		target := slices.Clone(b.target)
		b.within = false
		b.settle()
		for _, r := range slices.Concat([]rune("("), target, []rune{r}) {
			b.take(r)
		}
		return
	}
	switch {
	case b.angled:
		b.angled = r != '>' && r != '\n'
	case r == '<' && strings.TrimSpace(string(b.target)) == "":
		b.angled = true
	case r == '(':
		b.depth++
	case r == ')':
		b.depth--
	}
	if b.depth > 0 {
		b.target = append(b.target, r)
		return
	}
	b.resolve()
}

// resolve handles a bracket with a target. An image is replaced by its text, and so is a link whose
// target occurs in no source. Text that cannot be a link, such as the call handlers[i](event), is
// kept.
func (b *brackets) resolve() {
	place, inside := b.closed, string(b.target)
	b.closed, b.within = none, false
	target, is := b.known.target(inside)
	text := b.held[place+1:]
	cites := slices.ContainsFunc(text, func(t token) bool { return t.kind == citation })
	seen := slices.ContainsFunc(text, func(t token) bool { return t.kind == character && !unicode.IsSpace(t.r) })
	switch {
	case b.cites:
		b.addTarget(target, is)
	case place > 0 && b.held[place-1].kind == character && b.held[place-1].r == '!':
		b.held = slices.Delete(b.held, place-1, place+1)
	case is && seen && !cites:
		b.held[place].kind = linkBegin
		b.held = append(b.held, token{kind: linkEnd, address: target})
	case !is && callLike(inside) && b.known.contains("]("+inside+")"):
		b.held[place].kind = linkBegin
		b.held = append(b.held, token{kind: linkEnd, address: inside})
	case !is && callLike(inside):
		for _, r := range "](" + inside + ")" {
			b.hold(r)
		}
	default:
		b.held = slices.Delete(b.held, place, place+1)
		b.addTarget(target, is && seen)
	}
	b.pass()
}

// addTarget writes a checked target after a bracket that is not a link because it contains a
// citation.
func (b *brackets) addTarget(target string, is bool) {
	if is {
		b.hold(' ')
		b.hold('(')
		b.held = append(b.held, token{kind: location, address: strings.Trim(target, "<>") + ")"})
	}
}

// callLike reports whether the parentheses after a bracket contain no address.
func callLike(inside string) bool { return !strings.ContainsAny(inside, ":/\\.%&#?@<>\n") }

// close ends the text.
func (b *brackets) close() {
	if b.within {
		b.target = append(b.target[:0], ':') // an incomplete target is not a target
		b.resolve()
	}
	if b.closed != none {
		b.settle()
	}
	if n := len(b.open); n > 0 {
		if inside, is := b.mayCite(b.open[n-1]); is && strings.ContainsAny(inside, "0123456789") {
			b.held = b.held[:b.open[n-1]]
		}
	}
	b.open = b.open[:0]
	for _, t := range b.held {
		b.send(t)
	}
	b.held = b.held[:0]
}
