package figures

import (
	"regexp"
	"slices"
	"strings"
)

const (
	one    = `(?:bug|defect|task|story|epic|incident|ticket|issue|item)`
	many   = `(?:bugs|defects|tasks|stories|epics|incidents|tickets|issues|items|ones)`
	sure   = `(?:bugs|defects|tasks|stories|epics|incidents|tickets|issues)` // items may be anything
	fields = `(assignees?|people|reporters?|status(?:es)?|projects?|labels?|types?|priorit(?:y|ies)|days?|weeks?|months?|quarters?|years?)`
	verbs  = `(creat\pL*|open(?:ed)|report\pL*|fil(?:e|ed)|updat\pL*|chang\pL*|resolv\pL*|clos(?:e|ed)|fix\pL*|finish\pL*|complet\pL*|due)`
)

var (
	ends      = regexp.MustCompile(`[.?!;:]\s+`)
	key       = regexp.MustCompile(`\b\p{L}[\pL\pN_]*-\d+\b`)
	tickets   = phrase(one + `|` + many)
	plural    = phrase(many)
	quoted    = regexp.MustCompile(`["“]([^"“”]+)["”]`)
	mentioned = phrase(`(?:(?:that |which )?(?:mention|contain)(?:s|ing)?(?: the word)?|(?:that are |which are )?(?:about|regarding|concerning|related to)(?: the)?) (\pL[\pL\pN-]*)`)
	another   = regexp.MustCompile(`^(.*\| ) ([\pL\pN][\pL\pN-]*)`) // directly after what was cut
	most      = phrase(`(?:who|(?:which|what) ` + fields + `)(?: (?:has|have|had|is|got))*(?: ` + verbs + `)?(?: the)? (?:most|(fewest|least))(?: (?:frequent|common))?`)
	each      = phrase(`(?:per|by|(?:for|in) (?:each|every)) ` + fields)
	howMany   = phrase(`how many|(?:number|count) of|count`)
	extreme   = phrase(`(?:` + verbs + ` )?(?:the )?(?:(\d{1,2}) )?(?:(oldest|earliest|first)|newest|latest|last)(?: ` + verbs + `)?`)
	which     = phrase(`^(?:please )?(?:which|what|list|show|find|give)(?: me)?`)
	whatIs    = phrase(`^what(?:'s|’s| is| are)`)
	open      = phrase(`(?:not (?:yet )?(?:done|closed|resolved|finished|fixed)(?: yet)?|open|unresolved|unfinished)`)
	done      = phrase(`done|closed|resolved|finished|completed|fixed`)
	// counted are questions for tickets, whether or not a rule knows the rest.
	counted = phrase(`(?:how many|number of|count|which|list|show|find|give|break down|most|fewest|least)(?: [^\s,.;:?!]+){0,5} ` + sure + `|what(?: \pL+)? ` + sure + `|(?:newest|oldest|latest|earliest|most recent)(?: [^\s,.;:?!]+){0,3} ` + one + `|what(?:'s|’s| is| are) (?:assigned|owned|unassigned|overdue|blocked|in progress|in review)`)
	asks    = phrase(`how|what|when|where|which|who|whom|whose|why`)
	// grammar are the words that no rule takes and that change nothing.
	grammar = phrase(one + `|` + many + `|all|among|and|any|are|at|be|been|created|did|do|does|exist|for|from|had|has|have|how|in|is|me|now|of|on|our|over|overall|please|reported|still|tell|that|the|their|them|there|these|they|those|to|was|we|were|what|which|who|with|you`)
	// ending are the words, besides these and those of other rules, that end what tickets are about.
	ending   = phrase(`after|and|as|assigned|before|blocked|by|due|except|exist|labell?ed|last|next|not|or|overdue|owned|past|per|priority|project|since|status|tagged|this|today|type|unassigned|until|with|within|without|yesterday`)
	leftover = regexp.MustCompile(`[\pL\pN]`)
)

// states are words for filters that are no stored value. Without a field they mean overdue.
var states = []struct {
	said         *regexp.Regexp
	field, value string
}{
	{phrase(`unassigned|not assigned(?: to (?:anyone|anybody))?|assigned to (?:no one|nobody)|(?:without|no|has no|have no)(?: an)? assignee`), "assignee", ""},
	{phrase(`overdue|past due`), "", ""},
	{phrase(`(?:created|reported|filed) by me|did i (?:create|report|file)`), "reporter", "me"},
	{phrase(`assigned to me|of mine|mine|my`), "assignee", "me"},
}

// phrase compiles a pattern of whole words in any case.
func phrase(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\b)(?:` + pattern + `)(?:\b|$)`)
}

// cut is what stands in a question for the words that were last taken.
const cut = " | "

var periods = []string{"day", "week", "month", "quarter", "year"}

// fieldOf is the field that a word of fields means; "" if there is none.
func fieldOf(word string) string {
	switch word = singular(strings.ToLower(word)); word {
	case "people":
		return "assignee"
	case "statuse":
		return "status"
	}
	return word
}

func singular(word string) string {
	if word != "status" {
		word = strings.TrimSuffix(word, "s")
	}
	if stem, is := strings.CutSuffix(word, "ie"); is {
		return stem + "y"
	}
	return word
}

var dateOf = []struct{ verb, date string }{
	{"creat", "created"}, {"open", "created"}, {"report", "created"}, {"fil", "created"}, {"updat", "updated"}, {"chang", "updated"},
	{"resolv", "resolved"}, {"clos", "resolved"}, {"fix", "resolved"}, {"finish", "resolved"}, {"complet", "resolved"}, {"due", "due"},
}

var verb = phrase(verbs)

// verbOf is the date that the first verb of a text means; "" if it has none.
func verbOf(text string) string {
	found := strings.ToLower(verb.FindString(text))
	for _, d := range dateOf {
		if found != "" && strings.HasPrefix(found, d.verb) {
			return d.date
		}
	}
	return ""
}

// Names are known ones by field: those of the sources, and what trackers call states, types and
// priorities.
type Names map[string][]string

var usual = Names{
	"status":   {"to do", "todo", "in progress", "in review", "blocked", "won't do", "backlog"},
	"type":     {"bugs", "bug", "tasks", "task", "stories", "story", "epics", "epic", "incidents", "incident"},
	"priority": {"lowest", "low", "medium", "highest", "high", "critical"},
}

// roles say which field a name is a value of, by what stands around it. NAME is one that is known,
// WORD also one with capitals, ANY also any word.
var roles = []struct{ field, pattern string }{
	{"reporter", `(?:created|reported|filed) by WORD`},
	{"reporter", `(?:did|has|have) WORD (?:create|report|file)(?:d|ed)?`},
	{"assignee", `(?:assigned to|owned by|assignee) ANY`},
	{"status", `status ANY`},
	{"priority", `NAME[- ]priority`},
	{"priority", `priority ANY`},
	{"type", `(?:of )?type ANY`},
	{"label", `(?:labels?|labell?ed|tagged)(?: with)? ANY`},
	{"project", `(?:in |of )?(?:the )?project WORD`},
	{"project", `(?:in |of )?WORD project`},
	{"status", `NAME`},
	{"type", `NAME`},
	{"priority", `NAME ` + many},
	{"label", `NAME ` + many},
	{"project", `NAME ` + many},
	{"project", `(?:in|of|for|do|does|has|have) NAME`},
	{"project", `NAME['’]s`},
	{"project", `in WORD`},
	{"assignee", `(?:of|for|by|does|has|have) WORD`},
	{"assignee", `WORD['’]s`},
}

const (
	negation = `(?:(\w+n['’]t|not|without|except)(?: yet| in| of)? )?`
	capitals = `(?-i:\p{Lu}[^\s|,.?!;:"()'’]*(?: (?:(?:and|of|&) )*\p{Lu}[^\s|,.?!;:"()'’]*)*)` // a name as one writes it
)

// names takes what has a role, with those that "or" adds.
func (q *reader) names(known Names) {
	for _, role := range roles {
		names := slices.Concat(known[role.field], usual[role.field])
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
		for i := range names {
			names[i] = regexp.QuoteMeta(names[i])
		}
		name := strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), "|")
		if name == "" {
			name = `\z.` // matches nothing
		}
		pattern := negation + role.pattern
		for form, also := range map[string]string{"NAME": "", "WORD": "|" + capitals, "ANY": "|" + capitals + `|[^\s|,.?!]+`} {
			each := "(?:" + name + also + ")"
			pattern = strings.Replace(pattern, form, "(?:the )?("+each+"(?: or "+each+")*)", 1)
		}
		said := phrase(pattern)
		for m := q.take(said); m != nil; m = q.take(said) {
			values := ors.Split(m[2], -1)
			if role.field == "type" { // bugs are tickets
				q.rest = strings.Replace(q.rest, cut, " tickets ", 1)
				for i := range values {
					values[i] = singular(values[i])
				}
			}
			q.Filters = append(q.Filters, Condition{role.field, values, m[1] != ""})
		}
	}
}

var ors = regexp.MustCompile(`(?i) or `)
