package figures

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// States that are no stored status, and people without a name.
var (
	unassigned = phrase(`unassigned|(?:not|n't|n’t) (?:yet )?assigned(?: to (?:anyone|anybody|someone))?|(?:without|no|has no|have no|lack(?:s|ing)?|missing)(?: an?| any)? (?:assignee|owner)s?|(?:assigned to|owned by) (?:nobody|no one|no-one)|nobody`)
	overdue    = phrase(`overdue|over due|past (?:their |its |the )?due(?: dates?)?|late`)
	open       = phrase(`(?:(?:is|are|was|were|still|currently) )*(?:open|unresolved|unfinished|outstanding)`)
	undone     = phrase(`(?:(?:is|are|was|were|still|currently) )*(?:not|aren['’]t|isn['’]t|haven['’]t|hasn['’]t) (?:yet )?(?:been )?(?:done|closed|resolved|finished|fixed|completed)(?: yet)?`)
	done       = phrase(`(?:(?:is|are|was|were|has been|have been|already) )*(?:closed?|resolved?|finish(?:ed)?|completed?|fix(?:ed)?|done|solved)`)
	mine       = phrase(`(?:assigned to|owned by|belong(?:s|ing)? to|of) me|my|mine|(?:do|have|am) i (?:have|got|own|work(?:ing)? on)?|i (?:have|own|am working on)`)
	byMe       = phrase(`(?:(?:created|reported|filed|raised|opened|submitted|written) by me)|(?:did|have) i (?:created?|report(?:ed)?|filed?|raised?|open(?:ed)?|submit(?:ted)?)|i (?:created?|report(?:ed)?|filed?|raised?|opened|submit(?:ted)?)`)
)

// values places states, people and stored values. Each step leaves fewer words.
func (q *reader) values() {
	if at := unassigned.FindStringIndex(q.rest); at != nil && !strings.HasPrefix(q.rest[at[1]:], " to ") {
		q.cut(at[0], at[1])
		q.add("assignee", "")
	}
	if q.take(overdue) != nil {
		q.Dates, q.State = append(q.Dates, Span{Field: "due", To: written(q.today.AddDate(0, 0, -1))}), "open"
	}
	if q.take(byMe) != nil {
		q.add("reporter", "me")
	}
	if q.take(mine) != nil {
		q.add("assignee", "me")
	}
	if q.take(undone) != nil {
		q.State = "open"
	}
	q.names(true)
	q.names(false)
	q.rest = strings.ReplaceAll(q.rest, typed, "tickets")
	if q.take(open) != nil {
		q.State = "open"
	}
	isResolved := q.Sort == "resolved" || q.GroupBy == "resolved" || slices.ContainsFunc(q.Dates, func(span Span) bool { return span.Field == "resolved" })
	if q.State == "any" && q.take(done) != nil && !isResolved {
		q.State = "done"
	}
}

// role says which members of filters words can be a value of, by themselves and what stands around
// them. A nil pattern matches all; what a group of after matches is cut out with the value.
type role struct {
	members             string
	before, text, after *regexp.Regexp
	unknown             condition // of words that are not known as a name
}

// condition is what words must be.
type condition int

const (
	never condition = iota
	named           // they look like a name
	always
)

func (c condition) holds(isName bool) bool { return c == always || c == named && isName }

func behind(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + pattern + `)(?: the)? $`)
}

func ahead(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?i:` + pattern + `)(?:\b|$)`)
}

const (
	filing  = `(?:report|creat|fil|rais|submit|open|log)\pL*`
	holding = `(?:have|had|own|got|hold|clos\pL*|fix\pL*|resolv\pL*|finish\pL*|complet\pL*|work\pL*|assigned)`
)

// roles are tried in this order.
var roles = []role{
	{"reporter", behind(filing + ` by|reporter(?: is)?`), nil, nil, always},
	{"reporter", behind(`did|has|have`), nil, ahead(`( ` + filing + `)`), always},
	{"assignee", behind(`assigned to|owned by|(?:fixed|closed|resolved|finished|completed|handled|done) by|assignee(?: is)?|belong(?:s|ing)? to`), nil, nil, always},
	{"assignee", behind(`does|did|has|have|had|is|was`), nil, ahead(` ` + holding), always},
	{"assignee project", nil, nil, regexp.MustCompile(`^('s|’s)(?: |$)`), always},
	{"priority", behind(`priority(?: is| of)?|prioriti[sz]ed as`), nil, nil, always},
	{"priority", nil, nil, ahead(`( (?:priority|prio))`), always},
	{"label", behind(`labels|tags|(?:label(?:l?ed)?|tag(?:ged)?)(?: with| as)?`), nil, nil, always},
	{"type", behind(`type(?: is)?|kind|of type`), nil, nil, always},
	{"status", behind(`(?:status|state)(?: is| of)?|column`), nil, nil, always},
	{"project", behind(`project(?: named)?`), nil, nil, always},
	{"project", nil, nil, ahead(`( project)`), always},
	// Anywhere: statuses and types, names of several words, keys, and what continues a list.
	{"status type", nil, nil, nil, never},
	{"project", nil, regexp.MustCompile(` |^[\p{Lu}\pN]{2,}$`), nil, never},
	{"assignee priority", nil, regexp.MustCompile(` `), nil, never},
	{"assignee priority", regexp.MustCompile(`\| *(?:or|and|nor|,|, or|, and|&|/) $`), nil, nil, never},
	{"priority label project", nil, nil, ahead(` (?:(?:open|unresolved|closed) )?(?:` + tickets + `)`), never},
	{"status", behind(`in|are|is|still|were|currently`), nil, nil, never},
	{"status", nil, nil, ahead(` (?:` + tickets + `)`), never},
	{"project", behind(`in|inside|within|on`), nil, nil, named},
	{"assignee project", behind(`of|for|by|from|does|did|has|have|with|to|is`), nil, nil, named},
}

// fits reports whether words have the role, and how much of what follows is a part of it.
func (r role) fits(before, text, after string) (is bool, size int) {
	if r.before != nil && !r.before.MatchString(before) || r.text != nil && !r.text.MatchString(text) {
		return false, 0
	}
	if r.after == nil {
		return true, 0
	}
	m := r.after.FindStringSubmatch(after)
	if len(m) > 1 {
		size = len(m[1])
	}
	return m != nil, size
}

var (
	token   = regexp.MustCompile(`[\pL\pN@#&+](?:[^\s|,;!?()"]*[\pL\pN+#])?`) // a word, without the punctuation around it
	negated = regexp.MustCompile(`(?i)\b(?:not|non|except|excluding|without|other than|\pL+n['’]t|apart from|but not)(?: in| in the| for| of| by| the| assigned to| owned by| ` + filing + ` by| labell?ed| labels?| tagged| tags?| with| as)*[ -]$`)
	apart   = regexp.MustCompile(`[|,;!?()"]|[^\pL\pN@#&+] | [^\pL\pN@#&+]`) // words that are not side by side
	joining = regexp.MustCompile(`(?i) (?:(?:and|&|of|/) )+`)                // words of names
	noValue = phrase(`^(?:open|all|` + months + `)$`)
	// what is said of any ticket is a status of this name only where one says so
	said = phrase(`^(?:closed|resolved|unresolved|fixed|finished|completed|assigned|unassigned|created|reported|updated)$`)
	// what a sentence is made of is no name at all, unless one writes it as one where names stand
	made = phrase(`^(?:` + glue + `)(?: .*)?$|^.* (?:` + glue + `)$|^(?:a|an|any|as|at|by|for|from|in|last|next|on|only|please|the|to|with)$`)
)

const glue = things + `|am|and|are|be|been|being|did|does|had|has|have|he|how|i|is|it|many|me|much|my|now|of|or|our|she|that|there|these|they|this|those|us|was|we|were|what|which|who|whom|whose|with|yet|you`

// typed stands in the question for a type that was placed, as bugs are tickets. No value has it.
const typed = "\uE000"

const (
	valueWords = 7  // of one value
	longest    = 20 // of what stands before a role's value, in bytes
)

// names places the names in the question, the longest first: those that are known, or all that
// stand where names stand.
func (q *reader) names(areKnown bool) {
	for size := valueWords; size > 0; size-- {
		words := token.FindAllStringIndex(q.rest, -1)
		for i := 0; i+size <= len(words); i++ {
			start, end := words[i][0], words[i+size-1][1]
			text := q.rest[start:end]
			if apart.MatchString(text) || noValue.MatchString(text) || !areKnown && size > 1 && !isPhrase(text) {
				continue
			}
			if q.place(areKnown, start, end) {
				// What stands before it may be a name now. All of it again would take the square of the time.
				words, i = token.FindAllStringIndex(q.rest, -1), max(-1, i-valueWords-2)
			}
		}
	}
}

// isPhrase reports whether several words are one name: all have a capital letter, but those that
// join them.
func isPhrase(text string) bool {
	return !slices.ContainsFunc(strings.Fields(joining.ReplaceAllString(text, " ")), func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return !unicode.IsUpper(first) || made.MatchString(word)
	})
}

// place makes the words there a filter, if they are a name in a role that they have, and reports
// whether it did.
func (q *reader) place(areKnown bool, start, end int) bool {
	text := strings.TrimSuffix(strings.TrimSuffix(q.rest[start:end], "'s"), "’s")
	end = start + len(text)
	first, _ := utf8.DecodeRuneInString(text)
	isName := unicode.IsUpper(first) || first == '@'
	isFirst := !strings.ContainsFunc(q.rest[:start], func(r rune) bool { return r == '|' || unicode.IsLetter(r) })
	text = strings.TrimPrefix(text, "@")
	before, after := q.rest[max(0, start-longest):start], q.rest[end:]
	for _, role := range roles {
		isAnywhere := role.before == nil && role.after == nil
		isGrammar := made.MatchString(text) && (isAnywhere || isFirst || !isName) || role.text != nil && !isName && len(content(text)) == 0 ||
			role.unknown != always && !isName && strings.Contains(grammar, " "+strings.ToLower(text)+" ")
		if !areKnown && !role.unknown.holds(isName) || role.unknown == never && said.MatchString(text) || isGrammar {
			continue
		}
		is, more := role.fits(before, text, after)
		if !is {
			continue
		}
		fields := strings.Fields(role.members)
		at := slices.IndexFunc(fields, func(field string) bool { return q.known.has(field, text) })
		if at < 0 && areKnown {
			continue
		}
		q.placed(fields[max(0, at)], text, start, end+more)
		return true
	}
	return false
}

// placed adds a name to the filters, and cuts its words out of the question.
func (q *reader) placed(field, value string, start, end int) {
	not := false
	if m := negated.FindStringIndex(q.rest[:start]); m != nil {
		not, start = true, m[0]
	}
	if field == "type" {
		value = singular(value)
	}
	q.addTo(field, value, not)
	q.cut(start, end)
	if field == "type" { // bugs are tickets
		q.rest = q.rest[:start] + " " + typed + " " + q.rest[start+len(bar):]
	}
}

func (q *reader) add(field, value string) { q.addTo(field, value, false) }

// addTo adds a value to the condition on a field; labels must all be there.
func (q *reader) addTo(field, value string, not bool) {
	at := slices.IndexFunc(q.Filters, func(c Condition) bool { return c.Field == field && c.Not == not })
	if at < 0 {
		q.Filters = append(q.Filters, Condition{field, []string{value}, not})
	} else if !slices.Contains(q.Filters[at].Values, value) {
		q.Filters[at].Values = append(q.Filters[at].Values, value)
	}
}
