package ticketfile

import (
	"encoding/json"
	"fmt"
	"strings"

	"tasklens/internal/markup"
)

const (
	jiraComponents  = "Components" // "Component/s" in older ones
	jiraComponents2 = "Component/s"
	jiraParent      = "Parent key"
	jiraParent2     = "Parent" // a key, or the number by which Jira's database knows it
	jiraEpic        = "Custom field (Epic Link)"
)

// jira is "Export CSV" of Jira Cloud and Data Center.
var jira = csvForm{
	fieldNames: fieldNames{
		key: "Issue key", project: "Project key", name: "Summary", status: "Status", created: "Created", updated: "Updated",
		resolved: "Resolved", due: "Due date", category: "Status Category", assignee: "Assignee", reporter: "Reporter",
		ticketType: "Issue Type", priority: "Priority", labels: "Labels", comments: "Comments", links: "Links",
	},
	required: []string{"Issue key", "Summary"},
	columns: []string{
		"Issue key", "Project key", "Project name", "Project description", "Summary", "Description", "Status", "Status Category",
		"Issue Type", "Priority", "Assignee", "Reporter", "Labels", jiraComponents, jiraComponents2, "Created", "Updated",
		"Resolved", "Due date", "Comment", jiraParent, jiraParent2, jiraEpic,
	},
	linkColumn: jiraLinkColumn,
	ticket:     jiraTicket,
	project: func(r *csvRows) (name, description string) {
		return r.value("Project name"), wikiText(r.value("Project description"))
	},
}

// jiraLinkColumn reads names such as "Outward issue link (Blocks)". A type of link that is none of ours relates the tickets.
func jiraLinkColumn(name string) (linkColumn, bool) {
	name = strings.ToLower(name)
	kind, inward := strings.CutPrefix(name, "inward issue link (")
	if !inward {
		var outward bool
		if kind, outward = strings.CutPrefix(name, "outward issue link ("); !outward {
			return linkColumn{}, false
		}
	}
	switch strings.TrimSuffix(kind, ")") {
	case "duplicate", "duplicates":
		return linkColumn{kind: Duplicates, inward: inward}, true
	case "blocks", "blocker", "dependency":
		return linkColumn{kind: Blocks, inward: inward}, true
	}
	return linkColumn{kind: RelatesTo, inward: inward}, true
}

func jiraTicket(r *csvRows) (rawTicket, error) {
	raw := rawTicket{
		key:         r.value(r.form.key),
		project:     r.value(r.form.fieldNames.project),
		name:        r.value(r.form.name),
		description: wikiText(r.value("Description")),
		status:      r.value(r.form.status),
		created:     r.value(r.form.created),
		updated:     r.optional(r.form.updated),
		resolved:    r.optional(r.form.resolved),
		due:         r.optional(r.form.due),
		category:    r.optional(r.form.category),
		assignee:    r.optional(r.form.assignee),
		reporter:    r.optional(r.form.reporter),
		ticketType:  r.optional(r.form.ticketType),
		priority:    r.optional(r.form.priority),
		labels:      r.values("Labels", jiraComponents, jiraComponents2),
	}
	if strings.TrimSpace(raw.project) == "" && strings.TrimSpace(raw.key) != "" {
		dash := strings.LastIndexByte(raw.key, '-')
		if dash < 0 {
			return rawTicket{}, fmt.Errorf("Project key is missing, and Issue key %s does not hold it", quote(raw.key))
		}
		raw.project = raw.key[:dash]
	}
	if comments := r.values("Comment"); comments != nil {
		raw.comments = []rawComment{}
		for _, comment := range comments {
			raw.comments = append(raw.comments, jiraComment(comment))
		}
	}
	for _, parent := range r.values(jiraParent, jiraEpic, jiraParent2) {
		if strings.Contains(parent, "-") {
			raw.links = append(raw.links, Link{From: raw.key, Kind: ChildOf, To: parent})
			break
		}
	}
	return raw, nil
}

// jiraComment reads "14/Mar/25 9:30 AM;ann;seen; closing". What does not begin with a date is all text.
func jiraComment(field string) rawComment {
	if parts := strings.SplitN(field, ";", 3); len(parts) == 3 {
		if created, err := parseDate(parts[0]); err == nil && !created.IsZero() {
			return rawComment{Created: parts[0], Author: parts[1], Body: jsonText(wikiText(parts[2]))}
		}
	}
	return rawComment{Body: jsonText(wikiText(field))}
}

// wikiText makes readable text of Jira's markup, or of an Atlassian document.
func wikiText(s string) string {
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if text, err := markup.Document(json.RawMessage(trimmed)); err == nil {
			return text
		}
	}
	return markup.Text(s)
}
