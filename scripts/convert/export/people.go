package export

import (
	"cmp"
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
