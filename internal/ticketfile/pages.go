package ticketfile

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

// add reads what a page says beside its issues, in the words of Jira, GitHub and GraphQL.
func (p *pages) add(page gjson.Result, issues int) {
	last := page.Get("isLast")
	p.more = last.Raw == "false" || page.Get("nextPageToken").String() != "" && !last.Bool() || page.Get("pageInfo.hasNextPage").Bool() || page.Get("incomplete_results").Bool()
	total := page.Get("total")
	if !total.Exists() {
		total = page.Get("total_count")
	}
	if !total.Exists() {
		return
	}
	start := p.position
	if at := page.Get("startAt"); at.Exists() {
		start = int(at.Int())
	}
	if p.ends == nil {
		p.ends = map[int]int{}
	}
	if start > 0 {
		p.ends[start]--
	}
	if p.position = start + issues; p.position < int(total.Int()) {
		p.ends[p.position]++
	} else {
		p.position = 0
	}
}

// Incomplete says what the last pass of Tickets shows that the files lack; it is empty if nothing
// does.
func (r *Reader) Incomplete() string {
	for _, at := range slices.Sorted(maps.Keys(r.pages.ends)) {
		switch ends := r.pages.ends[at]; {
		case ends > 0:
			return fmt.Sprintf("a page ends at issue %d of more, and the files lack the next one", at)
		case ends < 0:
			return fmt.Sprintf("a page begins after issue %d, and the files lack the one before", at)
		}
	}
	switch {
	case r.pages.more:
		return "the last page says that another follows, which the files lack"
	case r.pages.comments > 0:
		return fmt.Sprintf("they lack %d comments, since Jira returns only some of them in a search", r.pages.comments)
	}
	return ""
}
