package ask

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"tasklens/internal/filter"
	"tasklens/internal/search"
)

// The most spellings that are looked up for a question at once: those that resemble a value cost a
// scan each.
const (
	mostExact = 600
	mostNear  = 30
)

// lookup are stored values by what a question calls them.
type lookup struct {
	near  bool // values that resemble it count, too
	most  int
	known filter.Stored
	asked []filter.Spelling // that are to be looked up
}

// of returns the values of a spelling, none before it was looked up.
func (l *lookup) of(member, text string) []string {
	spelling := filter.Spelling{Member: member, Text: text}
	if _, is := l.known[spelling]; !is {
		l.known[spelling] = nil
		l.asked = append(l.asked, spelling)
	}
	return l.known[spelling]
}

var plurals = strings.NewReplacer("ies|", "y", "ses|", "s", "xes|", "x", "s|", "", "|", "")

// first returns the values of the first of these members that has any, else the first member.
func (l *lookup) first(members, text string) (string, []string) {
	list := strings.Fields(members)
	for _, member := range list {
		found := l.of(member, text)
		if len(found) == 0 && member == "types" {
			found = l.of(member, plurals.Replace(strings.ToLower(text)+"|"))
		}
		if len(found) > 0 {
			return member, found
		}
	}
	return list[0], nil
}

// byRules reads a thread again until all values that it asks for were looked up.
func byRules(ctx context.Context, db search.Database, thread []string, today time.Time) (Reading, error) {
	exact, near := &lookup{most: mostExact, known: filter.Stored{}}, &lookup{near: true, most: mostNear, known: filter.Stored{}}
	for {
		whole := readThread(thread, exact, near, today)
		needed := exact
		if len(exact.asked) == 0 {
			needed = near
		}
		if len(needed.asked) == 0 {
			return whole, nil
		}
		found, err := search.Stored(ctx, db, needed.asked[:min(len(needed.asked), needed.most)], needed.near)
		if err != nil {
			return whole, fmt.Errorf("read a question: %w", err)
		}
		maps.Copy(needed.known, found)
		needed.asked = nil
	}
}

func readThread(thread []string, exact, near *lookup, today time.Time) (whole Reading) {
	for i, question := range thread {
		if next := read(question, exact, near, today, whole.Goal); i == 0 || next.Intent == Prose {
			whole = next
		} else {
			whole = whole.then(next)
		}
	}
	return whole
}
