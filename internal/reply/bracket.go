package reply

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxBracket is how many characters of an open bracket are held back. A longer one goes out as text.
	maxBracket = 500
	// maxTarget is how many characters of a link's target are held back.
	maxTarget = 2 << 10
	none      = -1
)

// token is what brackets makes of a text: a character, or a part that was checked.
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
	unknown        // a citation that is taken out
	location
	linkBegin
	linkEnd
)

// brackets reads citations, links and images. What stands in brackets is held back until it is known what they are.
type brackets struct {
	next    *addresses
	out     *output
	known   *known
	code    *code
	sources int
	unknown int // citations that were taken out

	held     []token
	open     []int // the places of open brackets in held
	closed   int   // the place of the bracket that the last character closed
	cites    bool  // it was a citation, which stands in its place
	target   []rune
	within   bool // the target of a link
	depth    int  // round brackets in it
	angled   bool // it is within <>
	previous rune // that went on
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
	case r == '\n' && len(b.open) > 0 && b.held[len(b.held)-1].r == '\n': // no bracket goes on in the next paragraph
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

// pass lets go on what is held, unless a bracket is open or may become an image's.
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

// read reads the innermost open bracket, now that it is closed.
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
		// The index of an array, written as the model was given it.
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

// mayCite gives the inside of a bracket that has only what citations have.
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

// settle is for a closed bracket that no target follows.
func (b *brackets) settle() {
	if !b.cites {
		b.hold(']')
	}
	b.closed = none
	b.pass()
}

// takeTarget takes a character of what follows a bracket in round ones. What no link's target has makes it text.
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

// resolve decides what a bracket with a target is. An image becomes its text, and so does a link whose target stands in no
// source. What cannot be an address, such as the call handlers[i](event), stays what it is.
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

// addTarget writes a checked target behind what is no link, because a citation is in it.
func (b *brackets) addTarget(target string, is bool) {
	if is {
		b.hold(' ')
		b.hold('(')
		b.held = append(b.held, token{kind: location, address: strings.Trim(target, "<>") + ")"})
	}
}

// callLike says that round brackets after square ones hold no address.
func callLike(inside string) bool { return !strings.ContainsAny(inside, ":/\\.%&#?@<>\n") }

// close ends the text.
func (b *brackets) close() {
	if b.within {
		b.target = append(b.target[:0], ':') // half a target is none
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
