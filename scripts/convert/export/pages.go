package export

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// pages are what the pages of a search say of one another.
type pages struct {
	more     bool        // whether another follows the last one
	position int         // after the last one, of those that do not say where they begin
	ends     map[int]int // how many end at an issue before the last, less those that begin after it
	comments int         // that tickets have and the files lack
}

// add reads what a page says beside its issues, in the words of Jira's searches and of GraphQL.
func (p *pages) add(page gjson.Result, issues int) {
	last := page.Get("isLast")
	p.more = last.Raw == "false" || page.Get("nextPageToken").String() != "" && !last.Bool() || page.Get("pageInfo.hasNextPage").Bool()
	start, total := p.position, int(page.Get("total").Int())
	if at := page.Get("startAt"); at.Exists() {
		start = int(at.Int())
	}
	if total > 0 && start > 0 {
		p.ends[start]--
	}
	if p.position = start + issues; p.position < total {
		p.ends[p.position]++
	} else {
		p.position = 0
	}
}

// incomplete says what the pages show that the files lack; it is empty if nothing does.
func (p *pages) incomplete() string {
	for _, at := range slices.Sorted(maps.Keys(p.ends)) {
		if p.ends[at] != 0 {
			return fmt.Sprintf("a page ends or begins at issue %d, and the page beside it is missing", at)
		}
	}
	switch {
	case p.more:
		return "the last page says that another follows, which is missing"
	case p.comments > 0:
		return fmt.Sprintf("they lack %d comments, since Jira returns only some of them in a search", p.comments)
	}
	return ""
}
