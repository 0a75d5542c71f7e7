package export

import (
	"fmt"
	"strings"
)

// linear is a CSV export, which has no comments.
var linear = tracker{
	name: "linear", title: "Linear",
	header: []string{"ID", "Team", "Title"},
	columns: columns{
		"key": {"ID"}, "name": {"Title"}, "description": {"Description"}, "status": {"Status"}, "assignee": {"Assignee"}, "reporter": {"Creator"},
		"priority": {"Priority"}, "labels": {"Labels"}, "due_date": {"Due Date"}, "created_at": {"Created"}, "updated_at": {"Updated"},
		"resolved_at": {"Completed", "Canceled"}, "started": {"Started"}, "project.name": {"Team"}, "source_id": {"UUID"},
		"child_of": {"Parent issue"}, "relates_to": {"Related to"}, "blocked_by": {"Blocked by"}, "duplicates": {"Duplicate of"},
	},
	finish: (*row).finishLinear,
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
				t.Links = append(t.Links, linkTo(kind, key, false))
			}
		}
	}
	r.keepOthers(t, nil)
	return nil
}
