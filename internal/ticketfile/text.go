package ticketfile

// textField is a field of a ticket that is one line of text: its column in the database, which is
// also its name in JSON Lines, and its name in the other formats, "" where they lack it.
type textField struct{ column, jira, linear, github string }

// textFields are all of them. To import another column of tickets, add it here.
var textFields = []textField{
	{"assignee", "Assignee", "Assignee", "assignees"},
	{"reporter", "Reporter", "Creator", "author"},
	{"ticket_type", "Issue Type", "", "type"},
	{"priority", "Priority", "Priority", ""},
}

// textNames returns the names of text fields in a format, by column.
func textNames(in func(textField) string) map[string]string {
	names := map[string]string{}
	for _, field := range textFields {
		if name := in(field); name != "" {
			names[field.column] = name
		}
	}
	return names
}

// texts returns the text fields of a row, by column.
func (r *csvRows) texts() map[string]string {
	texts := map[string]string{}
	for column, name := range r.form.names.texts {
		if given := r.given(name); given != nil {
			texts[column] = *given
		}
	}
	return texts
}
