package ticketfile

import (
	"encoding/json"
	"fmt"
	"strings"
)

var jiraForm = csvForm{
	name: "jira",
	names: fieldNames{key: "Issue key", project: "Project key", name: "Summary", status: "Status", created: "Created",
		updated: "Updated", category: "Status Category", labels: "Labels", due: "Due date", resolved: "Resolved", comments: "Comment",
		links: "issue links", texts: textNames(func(f textField) string { return f.jira })},
	required: []string{"Issue key", "Summary"},
	read: []string{"project key", "project name", "project description", "status", "created", "description", "updated", "status category", "labels",
		"components", "component/s", "due date", "resolved", "comment", "parent key", "parent", "epic link", "custom field (epic link)"},
	prefixes: []string{"inward issue link (", "outward issue link ("},
	project: func(r *csvRows, t Ticket) Project {
		p := Project{Key: t.ProjectKey, Name: strings.TrimSpace(clean(r.value("Project name"))), Description: clean(jiraText(r.value("Project description")))}
		if p.Name == "" {
			p.Name = p.Key
		}
		return p
	},
}

func init() { jiraForm.ticket = jiraTicket }

func jiraTicket(r *csvRows, _ place) (rawTicket, error) {
	names := jiraForm.names
	raw := rawTicket{
		key:         r.value(names.key),
		project:     r.value(names.project),
		name:        r.value(names.name),
		description: jiraText(r.value("Description")),
		status:      r.value(names.status),
		created:     r.value(names.created),
		updated:     r.value(names.updated),
		category:    r.value(names.category),
		texts:       r.texts(),
		labels:      r.all("Labels", "Components", "Component/s"),
		due:         r.given(names.due),
		resolved:    r.given(names.resolved),
		links:       r.jiraLinks(),
	}
	if cells := r.all("Comment"); cells != nil {
		raw.comments = []rawComment{}
		for _, cell := range cells {
			raw.comments = append(raw.comments, jiraComment(cell))
		}
	}
	if strings.TrimSpace(raw.project) == "" && strings.TrimSpace(raw.key) != "" {
		dash := strings.LastIndexByte(raw.key, '-')
		if dash < 0 {
			return rawTicket{}, fmt.Errorf("Project key is missing, and Issue key %s does not contain one", quote(raw.key))
		}
		raw.project = raw.key[:dash]
	}
	return raw, nil
}

// jiraText converts a field to plain text: from Atlassian's document JSON, else from wiki markup.
func jiraText(field string) string {
	if trimmed := strings.TrimSpace(field); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if text, err := readADF(json.RawMessage(trimmed)); err == nil {
			return text
		}
	}
	return readWiki(field)
}

// jiraComment reads date;author;text. A cell without a leading date is all text.
func jiraComment(cell string) rawComment {
	created, rest, ok := strings.Cut(cell, ";")
	if _, err := parseDate(created); !ok || err == errNoDate || strings.TrimSpace(created) == "" {
		return rawComment{body: jiraText(cell)}
	}
	author, body, ok := strings.Cut(rest, ";")
	if !ok {
		author, body = "", rest
	}
	return rawComment{created: created, author: author, body: jiraText(body)}
}

// linkColumn is a column of links of one type.
type linkColumn struct {
	at     int
	name   string // of the type, as in the file
	kind   string
	known  bool
	inward bool
}

func jiraLinkColumns(names []string) (columns []linkColumn) {
	for i, name := range names {
		direction, kind, ok := strings.Cut(name, " issue link (")
		if !ok {
			direction, kind, ok = strings.Cut(strings.ToLower(name), " issue link (")
		}
		inward := strings.EqualFold(direction, "inward")
		if !ok || !inward && !strings.EqualFold(direction, "outward") {
			continue
		}
		c := linkColumn{at: i, name: strings.TrimSuffix(kind, ")"), inward: inward}
		c.kind, c.known = jiraLinkType(strings.ToLower(c.name))
		columns = append(columns, c)
	}
	return columns
}

// jiraLinks reads the link columns and the ticket's parent.
func (r *csvRows) jiraLinks() (links []Link) {
	if len(r.linkColumns) > 0 {
		links = []Link{}
	}
	for _, c := range r.linkColumns {
		key := strings.TrimSpace(r.csv.fields[c.at])
		if key == "" {
			continue
		}
		if !c.known {
			r.notices.linkType(c.name)
		}
		links = append(links, Link{Kind: c.kind, Key: key, Inward: c.inward})
	}
	parent := r.given("Parent key", "Custom field (Epic Link)", "Epic Link", "Parent")
	if parent != nil {
		if links == nil {
			links = []Link{}
		}
		switch key := strings.TrimSpace(*parent); {
		case key == "":
		case strings.Trim(key, "0123456789") == "":
			r.notices.parents++
		default:
			links = append(links, Link{Kind: "child_of", Key: key})
		}
	}
	return links
}

// jiraLinkType maps Jira's link types to ours. A clone is a plain relation: it started as a copy
// but may be about something else by now.
func jiraLinkType(name string) (kind string, known bool) {
	switch strings.TrimSpace(name) {
	case "duplicate", "duplicates":
		return "duplicates", true
	case "blocks", "blocker", "block":
		return "blocks", true
	case "relates", "related", "relates to", "relation", "cloners", "clones", "cloned":
		return "relates_to", true
	}
	return "relates_to", false
}
