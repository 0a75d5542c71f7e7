package ticketfile

import (
	"fmt"
	"strings"
)

var linearForm = csvForm{
	name: "linear",
	names: fieldNames{key: "ID", project: "Team", name: "Title", status: "Status", created: "Created", updated: "Updated",
		category: "Completed", labels: "Labels", due: "Due Date", resolved: "Completed", comments: "Comment", links: "links",
		texts: textNames(func(f textField) string { return f.linear })},
	required: []string{"ID", "Team", "Title"},
	read: []string{"description", "status", "labels", "created", "updated", "started", "completed", "canceled",
		"due date", "parent issue", "related to", "blocked by", "duplicate of"},
	project: func(r *csvRows, t Ticket) Project {
		name := strings.TrimSpace(clean(r.value("Team")))
		if name == "" {
			name = t.ProjectKey
		}
		return Project{Key: t.ProjectKey, Name: name}
	},
}

func init() { linearForm.ticket = linearTicket }

// linearTicket reads a row. A team is a project; its key is the prefix of its issue ids.
func linearTicket(r *csvRows, _ place) (rawTicket, error) {
	names := linearForm.names
	raw := rawTicket{
		key:         strings.TrimSpace(r.value(names.key)),
		name:        r.value(names.name),
		description: r.value("Description"),
		status:      r.value(names.status),
		created:     r.value(names.created),
		updated:     r.value(names.updated),
		texts:       r.texts(),
		labels:      listed(r.given(names.labels)),
		due:         r.given(names.due),
		resolved:    r.given("Completed", "Canceled"),
	}
	if raw.key != "" {
		dash := strings.LastIndexByte(raw.key, '-')
		if dash <= 0 {
			return rawTicket{}, fmt.Errorf("ID %s is not of the form TEAM-7", quote(raw.key))
		}
		raw.project = raw.key[:dash]
	}
	if strings.EqualFold(strings.TrimSpace(raw.texts["priority"]), "No priority") {
		raw.texts["priority"] = ""
	}
	switch {
	case strings.TrimSpace(r.value("Completed")+r.value("Canceled")) != "":
		raw.category = "done"
	case strings.TrimSpace(r.value("Started")) != "":
		raw.category = "in_progress"
	}
	for _, column := range []struct{ name, kind string }{{"Parent issue", "child_of"}, {"Related to", "relates_to"}, {"Blocked by", "blocked_by"}, {"Duplicate of", "duplicates"}} {
		given := r.given(column.name)
		if given != nil && raw.links == nil {
			raw.links = []Link{}
		}
		for _, key := range listed(given) {
			if key = strings.TrimSpace(key); key != "" {
				link := linkKinds[column.kind]
				link.Key = key
				raw.links = append(raw.links, link)
			}
		}
	}
	return raw, nil
}
