package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
)

// trouble is a kind of event that does not end a conversion.
type trouble string

const (
	leftOut  trouble = "left out" // a row or file
	warning  trouble = "warning"  // a field that was left out; the rest of the row is there
	repeated trouble = "repeated" // a key that the files hold more than once
)

// report counts troubles and keeps some examples, to print those of a kind together.
type report struct {
	counts map[troubles]int
	first  map[troubles][]error
}

// troubles are events that differ in names and numbers only.
type troubles struct {
	kind    trouble
	pattern string
}

const (
	maxExamples = 5   // of a group
	maxGroups   = 200 // then further ones are one of each kind
)

var particular = regexp.MustCompile(`"[^"]*"…?|\S*[0-9]\S*`)

func (r *report) add(kind trouble, what error) {
	message := what.Error()
	if row, is := errors.AsType[*RowError](what); is {
		message = row.Reason
	}
	group := troubles{kind, particular.ReplaceAllString(message, "…")}
	if len(r.counts) >= maxGroups && r.counts[group] == 0 {
		group.pattern = ""
	}
	if r.counts[group]++; r.counts[group] <= maxExamples {
		r.first[group] = append(r.first[group], what)
	}
}

// print prints the events, with some examples of each group.
func (r *report) print(to io.Writer) {
	for _, group := range slices.SortedFunc(maps.Keys(r.counts), func(a, b troubles) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.pattern, b.pattern))
	}) {
		for _, what := range r.first[group] {
			fmt.Fprintf(to, "%s: %v\n", group.kind, what)
		}
		if more := r.counts[group] - maxExamples; more > 0 {
			fmt.Fprintf(to, "%s: %d more like these\n", group.kind, more)
		}
	}
}
