package ticketfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var jira = csvFormat{
	name:     "jira",
	required: []string{"Issue key", "Summary"},
	columns: fieldNames{
		"key":             {"Issue key"},
		"project_key":     {"Project key"},
		"name":            {"Summary"},
		"description":     {"Description"},
		"status":          {"Status"},
		"status_category": {"Status Category"},
		"assignee":        {"Assignee"},
		"reporter":        {"Reporter"},
		"ticket_type":     {"Issue Type"},
		"priority":        {"Priority"},
		"labels":          {"Labels", "Components", "Component/s"},
		"due_date":        {"Due date"},
		"created_at":      {"Created"},
		"updated_at":      {"Updated"},
		"resolved_at":     {"Resolved"},
		"comments":        {"Comment"},
		"links":           {"issue links"},
		// Not of a ticket itself:
		"parent":              {"Parent key", "Custom field (Epic Link)", "Epic Link", "Parent"},
		"project.name":        {"Project name"},
		"project.description": {"Project description"},
	},
	finish: finishJira,
}

func finishJira(r *csvRows, t *Ticket) error {
	if cells := r.list("comments"); cells != nil {
		t.Comments = List[Comment]{}
		for _, cell := range cells {
			t.Comments = append(t.Comments, r.reader.jiraComment(cell))
		}
	}
	t.Links = r.jiraLinks()
	return r.reader.finishJira(r.fields, t)
}

// finishJira reads what the formats of Jira have in common.
func (r *Reader) finishJira(f fields, t *Ticket) error {
	t.Description.Value = r.jiraText(t.Description.Value)
	if t.ProjectKey == "" && t.Key != "" {
		var is bool
		if t.ProjectKey, is = projectOf(t.Key); !is {
			return fmt.Errorf("%s is missing, and %s %s does not contain one", f.columns.of("project_key"), f.columns.of("key"), quote(t.Key))
		}
	}
	t.project = Project{
		Name:        cmp.Or(strings.TrimSpace(clean(f.value("project.name"))), strings.TrimSpace(t.ProjectKey)),
		Description: described(r.jiraText(f.value("project.description"))),
	}
	return nil
}

// jiraText converts a field to Markdown: from Atlassian's document JSON, else from wiki markup.
func (r *Reader) jiraText(field string) string {
	if trimmed := strings.TrimSpace(field); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if text, err := readADF(json.RawMessage(trimmed), r.people); err == nil {
			return text
		}
	}
	return readWiki(field, r.people)
}

// jiraComment reads date;author;text. A cell without a leading date is all text.
func (r *Reader) jiraComment(cell string) Comment {
	created, rest, ok := strings.Cut(cell, ";")
	if _, err := ParseDate(created); !ok || err == errNoDate || strings.TrimSpace(created) == "" {
		return Comment{Body: given(r.jiraText(cell))}
	}
	author, body, ok := strings.Cut(rest, ";")
	if !ok {
		author, body = "", rest
	}
	return Comment{CreatedAt: created, Author: author, Body: given(r.jiraText(body))}
}

// linkColumn matches a column of links of one type.
var linkColumn = regexp.MustCompile(`(?i)^(in|out)ward issue link \((.*)\)$`)

// jiraLinkKinds maps Jira's link types to ours. A clone is a plain relation: it started as a copy
// but may be about something else by now.
var jiraLinkKinds = map[string]string{
	"duplicate": "duplicates", "duplicates": "duplicates",
	"blocks": "blocks", "blocker": "blocks", "block": "blocks",
	"relates": "relates_to", "related": "relates_to", "relates to": "relates_to", "relation": "relates_to",
	"cloners": "relates_to", "clones": "relates_to", "cloned": "relates_to",
}

func (r *Reader) jiraLinkKind(name string) string {
	kind, known := jiraLinkKinds[strings.ToLower(strings.TrimSpace(name))]
	if !known {
		r.notices["link type read as relates_to: "+strings.Trim(quote(name), `"`)] = 0
		return "relates_to"
	}
	return kind
}

// jiraLinks reads the link columns and the ticket's parent.
func (r *csvRows) jiraLinks() (links []Link) {
	for i, column := range r.header {
		found := linkColumn.FindStringSubmatch(column)
		if found == nil {
			continue
		}
		if links == nil {
			links = []Link{}
		}
		if strings.TrimSpace(r.row[i]) == "" {
			continue
		}
		links = append(links, Link{Kind: r.reader.jiraLinkKind(found[2]), Key: given(r.row[i]), Inward: strings.EqualFold(found[1], "in")})
	}
	parent := r.text("parent")
	if parent.Given && links == nil {
		links = []Link{}
	}
	switch key := strings.TrimSpace(parent.Value); {
	case key == "":
	case strings.Trim(key, "0123456789") == "":
		r.reader.notices["parents left out because they are given by a number (export the column Parent key)"]++
	default:
		links = append(links, Link{Kind: "child_of", Key: given(key)})
	}
	return links
}
