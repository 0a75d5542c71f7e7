package ticketfile

import "strings"

// member is something that a ticket has, and the columns of each format that hold it, with commas
// between them: the first with a value counts.
type member struct {
	name                        string
	field                       func(*Ticket) any // a *string, *Text or *[]string, if it is read as it is
	lines, jira, linear, github string
}

// members are all, those that every ticket needs first. Another text of one line is added here and
// to Ticket.
var members = []member{
	{"key", func(t *Ticket) any { return &t.Key }, "ticket_id", "Issue key", "ID", "number"},
	{"project_key", func(t *Ticket) any { return &t.ProjectKey }, "project_id", "Project key", "", "url"},
	{"name", func(t *Ticket) any { return &t.Name }, "name", "Summary", "Title", "title"},
	{"description", func(t *Ticket) any { return &t.Description }, "description", "Description", "Description", "body"},
	{"status", func(t *Ticket) any { return &t.Status }, "status", "Status", "Status", "state"},
	{"status_category", func(t *Ticket) any { return &t.Category }, "status_category", "Status Category", "", ""},
	{"assignee", func(t *Ticket) any { return &t.Assignee }, "assignee", "Assignee", "Assignee", "assignees"},
	{"reporter", func(t *Ticket) any { return &t.Reporter }, "reporter", "Reporter", "Creator", "author,user"},
	{"ticket_type", func(t *Ticket) any { return &t.TicketType }, "ticket_type", "Issue Type", "", "issueType,type"},
	{"priority", func(t *Ticket) any { return &t.Priority }, "priority", "Priority", "Priority", ""},
	{"labels", func(t *Ticket) any { return &t.Labels }, "labels", "Labels,Components", "Labels", "labels"},
	{"due_date", func(t *Ticket) any { return &t.DueDate }, "due_date", "Due date", "Due Date", ""},
	{"created_at", func(t *Ticket) any { return &t.CreatedAt }, "created_at", "Created", "Created", "createdAt"},
	{"updated_at", func(t *Ticket) any { return &t.UpdatedAt }, "updated_at", "Updated", "Updated", "updatedAt"},
	{"resolved_at", func(t *Ticket) any { return &t.ResolvedAt }, "resolved_at", "Resolved,resolutiondate", "Completed,Canceled", "closedAt"},
	{"notes", nil, "notes", "", "", ""},
	{"comments", nil, "comments", "Comment", "", ""},
	{"links", nil, "links", "issuelinks", "", ""},
	{"parent", nil, "", "Parent key,Custom field (Epic Link),Epic Link,Parent", "", ""},
	{"children", nil, "", "subtasks", "", ""},
	{"child_of", nil, "", "", "Parent issue", ""},
	{"relates_to", nil, "", "", "Related to", ""},
	{"blocked_by", nil, "", "", "Blocked by", ""},
	{"duplicates", nil, "", "", "Duplicate of", ""},
	{"project.name", nil, "", "Project name,project", "Team", ""},
	{"project.description", nil, "", "Project description", "", ""},
	{"started", nil, "", "", "Started", ""},
	{"reason", nil, "", "", "", "stateReason"},
}

const requiredMembers = 3

// in returns where a ticket has the member, nil if a format reads it in its own way.
func (m member) in(t *Ticket) any {
	if m.field == nil {
		return nil
	}
	return m.field(t)
}

// columns are the names of a ticket's members in a format, compared by fold.
type columns map[string][]string

func columnsOf(format func(member) string) columns {
	all := columns{}
	for _, m := range members {
		if names := format(m); names != "" {
			all[m.name] = strings.Split(names, ",")
		}
	}
	return all
}

// of names a member as its format does.
func (c columns) of(member string) string {
	if names := c[member]; names != nil {
		return names[0]
	}
	return member
}

// folded returns the names of all columns.
func (c columns) folded() map[string]bool {
	all := map[string]bool{"": true}
	for _, names := range c {
		for _, name := range names {
			all[fold(name)] = true
		}
	}
	return all
}
