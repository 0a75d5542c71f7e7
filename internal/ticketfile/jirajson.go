package ticketfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// jiraFields are the members' names in Jira's JSON; those with a space stand for nested ones.
var jiraFields = fieldNames{
	"key": {"key"}, "project_key": {"project key"}, "name": {"summary"}, "description": {"description"}, "status": {"status"},
	"status_category": {"status category"}, "assignee": {"assignee"}, "reporter": {"reporter"}, "ticket_type": {"issuetype"}, "priority": {"priority"},
	"labels": {"labels", "components"}, "due_date": {"duedate"}, "created_at": {"created"}, "updated_at": {"updated"}, "resolved_at": {"resolutiondate"},
	"comments": {"comment"}, "links": {"issuelinks"}, "parent": {"parent"}, "project": {"project"}, "subtasks": {"subtasks"}, "project.name": {"project name"},
}

// jiraTicket reads an issue as Jira's REST API returns it.
func (o *objectRows) jiraTicket(object json.RawMessage) (Ticket, error) {
	var issue struct {
		Key    Text
		Fields map[string]json.RawMessage
	}
	var nested struct {
		Fields struct {
			Status  struct{ StatusCategory struct{ Key string } }
			Project struct{ Key, Name string }
			Comment struct {
				Total    int64
				Comments []struct {
					ID               Text
					Author, Body     json.RawMessage
					Created, Updated string
				}
			}
			IssueLinks []struct {
				Type                      struct{ Name string }
				InwardIssue, OutwardIssue struct{ Key string }
			}
		}
	}
	if err := decode(object, o.read, &issue); err != nil {
		return Ticket{}, err
	}
	if err := decode(object, o.read, &nested); err != nil {
		return Ticket{Key: issue.Key.Value}, err
	}
	n := nested.Fields
	nestedCells := map[string][]string{"key": {issue.Key.Value}, "project key": {n.Project.Key}, "project name": {n.Project.Name}, "status category": {n.Status.StatusCategory.Key}}
	read := map[string]bool{}
	for _, columns := range jiraFields {
		for _, column := range columns {
			read[column] = true
		}
	}
	cells := o.reader.cellsOf(issue.Fields)
	f := fields{jiraFields, func(column string) []string {
		if values := nestedCells[column]; values != nil {
			return values
		}
		return cells(column)
	}}
	t := f.ticket(o.read)
	if issue.Fields["comment"] != nil {
		t.Comments = List[Comment]{}
	}
	for _, c := range n.Comment.Comments {
		author := strings.Join(o.reader.valuesOf(c.Author), "")
		t.Comments = append(t.Comments, Comment{Key: c.ID, Author: author, Body: given(o.reader.jiraText(strings.Join(o.reader.valuesOf(c.Body), ""))), CreatedAt: c.Created, UpdatedAt: c.Updated})
	}
	if more := int(n.Comment.Total) - len(n.Comment.Comments); more > 0 {
		o.reader.notices["comments that the files lack, since Jira returns only some of them in a search"] += more
	}
	if issue.Fields["issuelinks"] != nil {
		t.Links = List[Link]{}
	}
	for _, l := range n.IssueLinks {
		kind := o.reader.jiraLinkKind(l.Type.Name)
		for _, link := range []Link{{kind, given(l.InwardIssue.Key), true}, {kind, given(l.OutwardIssue.Key), false}} {
			if link.Key.Value != "" {
				t.Links = append(t.Links, link)
			}
		}
	}
	if parent := f.value("parent"); parent != "" {
		t.Links = append(t.Links, Link{Kind: "child_of", Key: given(parent)})
	}
	if err := o.reader.finishJira(f, &t); err != nil {
		return t, err
	}
	for _, name := range slices.Sorted(maps.Keys(issue.Fields)) {
		if !read[name] {
			o.reader.keep(&t, shownField(name, o.names), cells(name))
		}
	}
	return t, nil
}

// shownField names a field as Jira's pages do.
func shownField(name string, names map[string]string) string {
	own := map[string]string{"fixVersions": "Fix versions", "versions": "Affects versions", "resolution": "Resolution", "environment": "Environment"}
	return cmp.Or(names[name], own[name], name)
}

// cellsOf returns the values of the members of an object.
func (r *Reader) cellsOf(members map[string]json.RawMessage) func(member string) []string {
	cells := map[string][]string{}
	for name, value := range members {
		cells[name] = r.valuesOf(value)
	}
	return func(member string) []string { return cells[member] }
}

// valuesOf returns the values in a field of an issue in JSON: of an object, such as a person, a
// status or an option, its name.
func (r *Reader) valuesOf(value json.RawMessage) []string {
	values := []string{}
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0 || value[0] == 'n':
	case value[0] == '"':
		var text string
		if json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) != "" {
			values = append(values, text)
		}
	case value[0] == '[':
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items) // cannot fail: it is a part of what was decoded
		for _, item := range items {
			if len(item) > 0 && item[0] != '[' {
				values = append(values, r.valuesOf(item)...)
			}
		}
	case value[0] == '{':
		var object struct{ Type, AccountID, DisplayName, Login, Name, Value, Key string }
		err := json.Unmarshal(value, &object)
		if object.Type != "doc" && err == nil {
			for _, id := range []string{object.AccountID, object.Name, object.Key} {
				if object.DisplayName != "" {
					r.people.add(id, object.DisplayName)
				}
			}
			if name := cmp.Or(object.DisplayName, object.Login, object.Value, object.Name, object.Key); name != "" {
				return append(values, name)
			}
		}
		if string(value) != "{}" {
			values = append(values, string(value))
		}
	default:
		values = append(values, string(value))
	}
	return values
}
