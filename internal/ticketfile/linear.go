package ticketfile

import (
	"cmp"
	"fmt"
	"strings"
)

var linear = csvFormat{
	name:     "linear",
	required: []string{"ID", "Team", "Title"},
	columns: fieldNames{
		"key":         {"ID"},
		"name":        {"Title"},
		"description": {"Description"},
		"status":      {"Status"},
		"assignee":    {"Assignee"},
		"reporter":    {"Creator"},
		"priority":    {"Priority"},
		"labels":      {"Labels"},
		"due_date":    {"Due Date"},
		"created_at":  {"Created"},
		"updated_at":  {"Updated"},
		"resolved_at": {"Completed", "Canceled"},
		// Not of a ticket itself:
		"team":       {"Team"},
		"started":    {"Started"},
		"child_of":   {"Parent issue"},
		"relates_to": {"Related to"},
		"blocked_by": {"Blocked by"},
		"duplicates": {"Duplicate of"},
	},
	finish: finishLinear,
}

// finishLinear reads what Linear writes in its own way. A team is a project; its key is the prefix
// of its issue ids.
func finishLinear(r *csvRows, t *Ticket) error {
	if t.Key != "" {
		t.ProjectKey, _ = projectOf(strings.TrimSpace(t.Key))
		if t.ProjectKey == "" {
			return fmt.Errorf("ID %s is not of the form TEAM-7", quote(t.Key))
		}
	}
	t.project = Project{Name: cmp.Or(strings.TrimSpace(clean(r.value("team"))), t.ProjectKey)}
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
			t.Links = List[Link]{}
		}
		for _, cell := range keys {
			for key := range strings.SplitSeq(cell, ",") {
				t.Links = append(t.Links, Link{Kind: kind, Key: given(key)})
			}
		}
	}
	return nil
}
