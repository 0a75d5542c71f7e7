package ticketfile

import (
	"cmp"
	"strings"
)

// people are the names of people, by their ids in the tracker.
type people map[string]string

// name returns the name of an id, or what is no id of these.
func (p people) name(id string) string {
	return cmp.Or(p[strings.TrimSpace(id)], id)
}
