package ticketfile

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// people are the names of people, by their ids in the tracker.
type people map[string]string

// accountID matches what Atlassian's cloud calls a person.
var accountID = regexp.MustCompile(`^([0-9]+:[0-9a-f-]{36}|[0-9a-f]{24})$`)

func (p people) add(id, name string) {
	if id, name = strings.TrimSpace(id), oneLine(name); id != "" && name != "" {
		p[id] = name
	}
}

// name returns the name of an id, or what is no id of these.
func (p people) name(id string) string {
	return cmp.Or(p[strings.TrimSpace(id)], id)
}

// namePeople replaces ids by names. The keys of comments stay as the ids make them.
func (r *Reader) namePeople(t *Ticket) {
	t.Assignee.Value = t.cut("assignee", r.people.name(t.Assignee.Value), maxName)
	t.Reporter.Value = t.cut("reporter", r.people.name(t.Reporter.Value), maxName)
	long := 0
	for i := range t.Comments {
		author := &t.Comments[i].Author
		if *author = r.people.name(*author); accountID.MatchString(*author) {
			r.notices["comments whose author has only an id in the files"]++
		}
		var isLong bool
		if *author, isLong = shorten(*author, maxName); isLong {
			long++
		}
	}
	t.warnCount(long, fmt.Sprintf("comments.author cut to %d characters", maxName))
}
