package ticketfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNamed limits how many columns or link types a notice names.
const maxNamed = 40

// notices are remarks about the whole file, collected while its tickets are read.
type notices struct {
	columns      []string        // not read
	linkTypes    map[string]bool // unknown
	pullRequests int
	assignees    int // tickets reduced to their first assignee
	parents      int // given by a number, not a key
}

func (n *notices) linkType(name string) {
	if n.linkTypes == nil {
		n.linkTypes = map[string]bool{}
	}
	if len(n.linkTypes) <= maxNamed {
		n.linkTypes[name] = true
	}
}

func (n *notices) list() (all []string) {
	if len(n.columns) > 0 {
		all = append(all, "columns left out: "+named(n.columns))
	}
	if len(n.linkTypes) > 0 {
		all = append(all, "link types read as relates_to: "+named(slices.Sorted(maps.Keys(n.linkTypes))))
	}
	for _, c := range []struct {
		count int
		what  string
	}{
		{n.pullRequests, "pull requests left out"},
		{n.assignees, "issues with several assignees, reduced to the first"},
		{n.parents, "parents left out because they are given by a number: export the column Parent key"},
	} {
		if c.count > 0 {
			all = append(all, fmt.Sprintf("%s: %d", c.what, c.count))
		}
	}
	return all
}

func named(names []string) string {
	shown := make([]string, 0, maxNamed)
	for _, name := range names[:min(len(names), maxNamed)] {
		shown = append(shown, strings.Trim(quote(name), `"`))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
