package figures

import "strings"

// Names are known ones by field: those of the sources, and what trackers call states, types and
// priorities.
type Names map[string][]string

var usual = Names{
	"status":   {"to do", "todo", "in progress", "in review", "blocked", "done", "won't do", "wont do", "wont-do", "on hold", "in testing", "backlog"},
	"type":     {"bug", "story", "task", "epic", "incident", "improvement", "defect", "spike", "sub-task"},
	"priority": {"lowest", "low", "medium", "high", "highest", "critical", "blocker", "major", "minor", "trivial", "urgent"},
}

var plurals = strings.NewReplacer("ies|", "y", "ses|", "s", "xes|", "x", "s|", "", "|", "")

func singular(text string) string { return plurals.Replace(text + "|") }

// has reports whether a field has a value of this name.
func (n Names) has(field, text string) bool {
	for _, name := range append(usual[field], n[field]...) {
		if strings.EqualFold(name, text) || field == "type" && strings.EqualFold(name, singular(text)) {
			return true
		}
	}
	return false
}
