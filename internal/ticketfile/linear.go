package ticketfile

import (
	"fmt"
	"strings"
)

var linear = format{
	name:    "linear",
	header:  []string{"ID", "Team", "Title"},
	columns: columnsOf(func(m member) string { return m.linear }),
	finish:  (*row).finishLinear,
}

// finishLinear reads what Linear writes in its own way. A team is a project; its key is the prefix
// of its issue ids.
func (r *row) finishLinear(t *Ticket) error {
	if t.ProjectKey = projectOf(t.Key); t.ProjectKey == "" && t.Key != "" {
		return fmt.Errorf("ID %s is not of the form TEAM-7", quote(t.Key))
	}
	t.project.Name = r.value("project.name")
	if strings.EqualFold(strings.TrimSpace(t.Priority.Value), "No priority") {
		t.Priority.Value = ""
	}
	if t.Labels != nil {
		t.Labels = strings.Split(strings.Join(t.Labels, ","), ",")
	}
	switch {
	case t.ResolvedAt.Value != "":
		t.Category = "done"
	case r.value("started") != "":
		t.Category = "in_progress"
	}
	for _, kind := range []string{"child_of", "relates_to", "blocked_by", "duplicates"} {
		keys := r.list(kind)
		if keys != nil && t.Links == nil {
			t.Links = []Link{}
		}
		for _, cell := range keys {
			for key := range strings.SplitSeq(cell, ",") {
				t.Links = append(t.Links, Link{Kind: kind, Key: key})
			}
		}
	}
	r.keepOthers(t, nil)
	return nil
}
