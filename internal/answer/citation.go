package answer

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// writer checks the citations of a text while the text comes: [1], several in one pair of brackets, [1, 2], or [1-3].
// It marks the sources that are cited and takes the citations of unknown ones out, with the blanks before them. What
// is no citation goes on at once; blanks and an open bracket wait for what follows.
type writer struct {
	sources  []Source
	listener Listener        // nil: nobody waits for pieces
	text     strings.Builder // what went on so far
	unknown  int             // citations that were taken out

	blanks string // held back: dropped at either end of the text, and before an unknown citation
	open   string // held back: a bracket, and what may become a citation
	cited  bool   // the last that went on was a citation
}

// mayStand are the characters that a citation can have between its brackets.
const mayStand = "0123456789,;-– \t\n"

// write takes a piece of any size.
func (w *writer) write(piece string) error {
	var out strings.Builder
	for _, r := range piece {
		if w.open != "" {
			if strings.ContainsRune(mayStand, r) {
				w.open += string(r)
				continue
			}
			if r == ']' {
				w.closeBracket(&out)
				continue
			}
			w.put(&out, w.open)
			w.open = ""
		}
		switch {
		case r == '[':
			w.open = "["
		case unicode.IsSpace(r):
			w.blanks += string(r)
		default:
			w.put(&out, string(r))
		}
	}
	return w.tell(out.String())
}

// put lets text go on, after the blanks before it.
func (w *writer) put(out *strings.Builder, text string) {
	if w.text.Len() > 0 || out.Len() > 0 {
		out.WriteString(w.blanks)
	}
	if w.cited && w.blanks == "" && text[0] == '(' {
		out.WriteByte(' ') // [1](address) would be a link, which is the model's own and no citation
	}
	out.WriteString(text)
	w.blanks, w.cited = "", false
}

// closeBracket decides what the open bracket is, now that it is closed.
func (w *writer) closeBracket(out *strings.Builder) {
	inside := w.open[1:]
	w.open = ""
	numbers, unknown, is := w.readCitation(inside)
	if !is {
		w.put(out, "["+inside+"]")
		return
	}
	w.unknown += unknown
	if len(numbers) == 0 {
		w.blanks = strings.TrimRight(w.blanks, " \t")
		if openEnd.MatchString(w.text.String() + out.String()) {
			w.put(out, "…") // or what stands around it would become a citation: [[9]1]
		}
		return
	}
	for _, number := range numbers {
		w.sources[number-1].Cited = true
		w.put(out, "["+strconv.Itoa(number)+"]")
	}
	w.cited = true
}

var (
	openEnd    = regexp.MustCompile(`\[[\d\s,;–-]*$`)
	separators = regexp.MustCompile(`[\s,;]+`)
	interval   = regexp.MustCompile(`^(\d+)(?:[-–](\d+))?$`)
)

// readCitation gives the known sources of what stands in brackets, and how many it names that are unknown.
func (w *writer) readCitation(inside string) (numbers []int, unknown int, is bool) {
	named := map[int]bool{}
	for _, part := range separators.Split(strings.TrimSpace(inside), -1) {
		ends := interval.FindStringSubmatch(part)
		if ends == nil {
			return nil, 0, false
		}
		// What is too large for a number is unknown, as any that is too large.
		low, err := strconv.Atoi(ends[1])
		high := low
		if err == nil && ends[2] != "" {
			high, err = strconv.Atoi(ends[2])
		}
		if err != nil || low < 1 || high > len(w.sources) || high < low {
			unknown++
		}
		if err != nil {
			continue
		}
		for number := max(low, 1); number <= min(high, len(w.sources)); number++ {
			if !named[number] {
				named[number] = true
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, unknown, true
}

// close ends the text. A citation that was never closed is half of one and left out.
func (w *writer) close() error {
	open := w.open
	if w.open = ""; open == "" || strings.ContainsAny(open, "0123456789") {
		return nil
	}
	var out strings.Builder
	w.put(&out, strings.TrimRight(open, " \t\n"))
	return w.tell(out.String())
}

// tell lets checked text go on to who waits for it.
func (w *writer) tell(text string) error {
	if text == "" {
		return nil
	}
	w.text.WriteString(text)
	if w.listener == nil {
		return nil
	}
	return w.listener.Piece(text)
}
