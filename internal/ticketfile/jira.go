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
	t.Description.Value = jiraText(t.Description.Value)
	if cells := r.list("comments"); cells != nil {
		t.Comments = List[Comment]{}
		for _, cell := range cells {
			t.Comments = append(t.Comments, jiraComment(cell))
		}
	}
	t.Links = r.jiraLinks()
	if t.ProjectKey == "" && t.Key != "" {
		var is bool
		if t.ProjectKey, is = projectOf(t.Key); !is {
			return fmt.Errorf("Project key is missing, and Issue key %s does not contain one", quote(t.Key))
		}
	}
	t.project = Project{
		Name:        cmp.Or(strings.TrimSpace(clean(r.value("project.name"))), strings.TrimSpace(t.ProjectKey)),
		Description: described(jiraText(r.value("project.description"))),
	}
	return nil
}

// jiraText converts a field to plain text: from Atlassian's document JSON, else from wiki markup.
func jiraText(field string) string {
	if trimmed := strings.TrimSpace(field); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if text, err := readADF(json.RawMessage(trimmed), nil); err == nil {
			return text
		}
	}
	return readWiki(field, nil)
}

// jiraComment reads date;author;text. A cell without a leading date is all text.
func jiraComment(cell string) Comment {
	created, rest, ok := strings.Cut(cell, ";")
	if _, err := ParseDate(created); !ok || err == errNoDate || strings.TrimSpace(created) == "" {
		return Comment{Body: given(jiraText(cell))}
	}
	author, body, ok := strings.Cut(rest, ";")
	if !ok {
		author, body = "", rest
	}
	return Comment{CreatedAt: created, Author: author, Body: given(jiraText(body))}
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
		kind, known := jiraLinkKinds[strings.ToLower(strings.TrimSpace(found[2]))]
		if !known {
			kind = "relates_to"
			r.notices["link type read as relates_to: "+strings.Trim(quote(found[2]), `"`)] = 0
		}
		links = append(links, Link{Kind: kind, Key: given(r.row[i]), Inward: strings.EqualFold(found[1], "in")})
	}
	parent := r.text("parent")
	if parent.Given && links == nil {
		links = []Link{}
	}
	switch key := strings.TrimSpace(parent.Value); {
	case key == "":
	case strings.Trim(key, "0123456789") == "":
		r.notices["parents left out because they are given by a number (export the column Parent key)"]++
	default:
		links = append(links, Link{Kind: "child_of", Key: given(key)})
	}
	return links
}
