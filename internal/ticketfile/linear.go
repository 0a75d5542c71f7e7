package ticketfile

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// linear is "Export issues to CSV" of Linear. A team is a project; its key is the beginning of its tickets' keys.
var linear = csvForm{
	fieldNames: fieldNames{
		key: "ID", project: "Team", name: "Title", status: "Status", created: "Created", updated: "Updated",
		resolved: "Completed", due: "Due Date", category: "Status", assignee: "Assignee", reporter: "Creator",
		priority: "Priority", labels: "Labels", comments: "Comments", links: "Links",
	},
	required: []string{"ID", "Team", "Title"},
	columns: []string{
		"ID", "Team", "Title", "Description", "Status", "Priority", "Creator", "Assignee", "Labels", "Created", "Updated", "Started",
		"Completed", "Canceled", "Due Date", "Parent issue",
	},
	linkColumn: func(name string) (linkColumn, bool) {
		switch strings.ToLower(name) {
		case "related to":
			return linkColumn{kind: RelatesTo}, true
		case "blocking", "blocks":
			return linkColumn{kind: Blocks}, true
		case "blocked by":
			return linkColumn{kind: Blocks, inward: true}, true
		case "duplicate of":
			return linkColumn{kind: Duplicates}, true
		}
		return linkColumn{}, false
	},
	ticket:  linearTicket,
	project: func(r *csvRows) (name, description string) { return r.value("Team"), "" },
}

func linearTicket(r *csvRows) (rawTicket, error) {
	key := strings.TrimSpace(r.value(r.form.key))
	dash := strings.LastIndexByte(key, '-')
	if dash <= 0 {
		return rawTicket{}, fmt.Errorf("ID %s is no key such as ENG-12", quote(key))
	}
	raw := rawTicket{
		key:         key,
		project:     key[:dash],
		name:        r.value(r.form.name),
		description: r.value("Description"),
		status:      r.value(r.form.status),
		created:     plainDate(r.value(r.form.created)),
		updated:     r.optional(r.form.updated),
		resolved:    r.optional(r.form.resolved),
		due:         r.optional(r.form.due),
		assignee:    r.optional(r.form.assignee),
		reporter:    r.optional(r.form.reporter),
		priority:    r.optional(r.form.priority),
	}
	if canceled := r.optional("Canceled"); canceled != nil && *canceled != "" {
		raw.resolved = canceled
	}
	for _, date := range []*string{raw.updated, raw.resolved, raw.due} {
		if date != nil {
			*date = plainDate(*date)
		}
	}
	if raw.priority != nil && *raw.priority == "No priority" {
		*raw.priority = ""
	}
	category := ""
	switch {
	case raw.resolved != nil && *raw.resolved != "":
		category = "done"
	case r.value("Started") != "":
		category = "in_progress"
	}
	raw.category = &category
	if labels := r.optional("Labels"); labels != nil {
		raw.labels = strings.Split(*labels, ",")
	}
	if parent := r.value("Parent issue"); parent != "" {
		raw.links = append(raw.links, Link{From: key, Kind: ChildOf, To: parent})
	}
	return raw, nil
}

// JavaScript's way to write a time: Fri Mar 14 2025 09:12:33 GMT+0000 (Coordinated Universal Time).
var scriptDate = regexp.MustCompile(`^[A-Za-z]{3} ([A-Za-z]{3}) (\d{1,2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{4})`)

// plainDate writes a date of Linear's in a form that parseDate reads.
func plainDate(s string) string {
	m := scriptDate.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	t, err := time.Parse("Jan 2 2006 15:04:05 -0700", strings.Join(m[1:], " "))
	if err != nil {
		return s
	}
	return t.UTC().Format(time.RFC3339)
}
