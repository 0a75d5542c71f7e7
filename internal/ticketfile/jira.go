package ticketfile

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// jira is a CSV export. It has the columns of jiraIssues too, since fold makes most of them one.
var jira = export{
	name: "jira",
	columns: columns{
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
		"labels":          {"Labels", "Components"},
		"due_date":        {"Due date"},
		"created_at":      {"Created"},
		"updated_at":      {"Updated"},
		"resolved_at":     {"Resolved", "resolutiondate"},
		"comments":        {"Comment"},
		"links":           {"issuelinks"},
		// Not of a ticket itself:
		"parent":              {"Parent key", "Custom field (Epic Link)", "Epic Link", "Parent"},
		"project.name":        {"Project name", "project"},
		"project.description": {"Project description"},
		"children":            {"subtasks"},
		"security":            {"Security Level", "security"},
	},
	finish: (*row).finishJira,
}

// jiraIssues are issues as the REST API returns them, versions 2 and 3.
var jiraIssues = export{jira.name, jira.columns, (*row).finishJiraIssue}

func (r *row) finishJira(t *Ticket) error {
	cells := r.list("comments")
	if len(cells) > 0 {
		r.unclear[0], r.unclear[1] = r.unclear[0]+len(cells), r.unclear[1]+1
	}
	if len(cells) > 0 && r.Restricted == Omit {
		r.notices["comments left out, since the file does not say who may see them"] += len(cells)
	}
	if cells != nil && (len(cells) == 0 || r.Restricted == Keep) {
		t.Comments = []Comment{}
		for _, cell := range cells {
			t.Comments = append(t.Comments, r.jiraComment(cell))
		}
	}
	return r.finishAnyJira(t)
}

// jiraComment reads date;author;text. A cell without a leading date is all text.
func (r *row) jiraComment(cell string) Comment {
	created, rest, ok := strings.Cut(cell, ";")
	if _, err := ParseDate(created); !ok || err == errNoDate || strings.TrimSpace(created) == "" {
		return Comment{Body: r.jiraText(cell)}
	}
	author, body, ok := strings.Cut(rest, ";")
	if !ok {
		author, body = "", rest
	}
	return Comment{CreatedAt: created, Author: author, Body: r.jiraText(body)}
}

func (r *row) finishJiraIssue(t *Ticket) error {
	if page := r.object.Get("fields.comment"); page.Exists() {
		t.Comments = r.comments(page.Get("comments"), "created", "updated", r.jiraText)
		r.pages.comments += max(0, int(page.Get("total").Int())-len(page.Get("comments").Array()))
	}
	if links := r.object.Get("fields.issuelinks"); links.Exists() {
		t.Links = []Link{}
		for _, link := range links.Array() {
			kind := link.Get("type.name").String()
			r.addJiraLink(t, kind, link.Get("inwardIssue.key").String(), true)
			r.addJiraLink(t, kind, link.Get("outwardIssue.key").String(), false)
		}
	}
	return r.finishAnyJira(t)
}

// finishAnyJira reads what both forms have.
func (r *row) finishAnyJira(t *Ticket) error {
	t.Description = r.jiraText(t.Description)
	if t.ProjectKey = cmp.Or(t.ProjectKey, projectOf(t.Key)); t.ProjectKey == "" && t.Key != "" {
		return fmt.Errorf("Project key is missing, and Issue key %s does not contain one", quote(t.Key))
	}
	t.project = Project{Name: r.value("project.name"), Description: clean(r.jiraText(r.value("project.description")))}
	for column, values := range r.others {
		link := linkColumn.FindStringSubmatch(column)
		if link == nil {
			r.keep(t, column, values)
			continue
		}
		if t.Links == nil {
			t.Links = []Link{}
		}
		for _, key := range values {
			r.addJiraLink(t, link[2], key, strings.EqualFold(link[1], "in"))
		}
	}
	switch key := strings.TrimSpace(r.value("parent")); {
	case key == "":
	case strings.Trim(key, "0123456789") == "":
		r.notices["parents left out because they are given by a number (export the column Parent key)"]++
	default:
		t.Links = append(t.Links, Link{Kind: "child_of", Key: key})
	}
	return nil
}

// jiraText converts a field to Markdown: from Atlassian's document JSON, else from wiki markup.
func (r *row) jiraText(field string) string {
	if text := r.document(field); text != field {
		return text
	}
	return readWiki(field, r.people)
}

// document converts Atlassian's document JSON to Markdown, and leaves other text as it is.
func (r *row) document(field string) string {
	if trimmed := strings.TrimSpace(field); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if text, is := readADF([]byte(trimmed), r.people); is {
			return text
		}
	}
	return field
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

func (r *row) addJiraLink(t *Ticket, name, key string, inward bool) {
	if key == "" {
		return
	}
	kind, known := jiraLinkKinds[strings.ToLower(strings.TrimSpace(name))]
	if !known {
		kind = "relates_to"
		r.notices["link type read as relates_to: "+strings.Trim(quote(name), `"`)] = 0
	}
	t.Links = append(t.Links, Link{kind, key, inward})
}

// projectOf returns what stands before the number in a ticket's key, if it ends in one.
func projectOf(key string) string {
	at := strings.LastIndexByte(key, '-')
	if at < 0 || strings.Trim(key[at:], "-0123456789 ") != "" {
		return ""
	}
	return key[:at]
}
