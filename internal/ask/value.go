package ask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/filter"
)

// values are the stored values that a question's words can mean, with what is to be looked up.
type values struct {
	exact, similar  map[filter.Spelling][]string
	asked, resemble []filter.Spelling
}

// lookup returns the values of a spelling; similar: those that resemble it.
func (v *values) lookup(member, text string, similar bool) []string {
	stored, asked := v.exact, &v.asked
	if similar {
		stored, asked = v.similar, &v.resemble
	}
	spelling := filter.Spelling{Member: member, Text: text}
	found, known := stored[spelling]
	if !known {
		stored[spelling] = nil
		*asked = append(*asked, spelling)
	}
	return found
}

// States that are no stored status, and people without a name.
var (
	unassigned = phrase(`unassigned|(?:not|n't|n’t) (?:yet )?assigned(?: to (?:anyone|anybody|someone))?|(?:without|no|has no|have no|lack(?:s|ing)?|missing)(?: an?| any)? (?:assignee|owner)s?|(?:assigned to|owned by) (?:nobody|no one|no-one)|nobody`)
	overdue    = phrase(`overdue|over due|past (?:their |its |the )?due(?: dates?)?|late`)
	isOpen     = phrase(`(?:(?:is|are|was|were|still|currently) )*(?:open|unresolved|unfinished|outstanding|(?:not|aren['’]t|isn['’]t|haven['’]t|hasn['’]t) (?:yet )?(?:been )?(?:done|closed|resolved|finished|fixed|completed))`)
	isDone     = phrase(`(?:(?:is|are|was|were|has been|have been|already) )*(?:closed?|resolved?|finish(?:ed)?|completed?|fixed|done|solved)`)
	mine       = phrase(`(?:assigned to|owned by|belong(?:s|ing)? to|of) me|my|mine|(?:do|have|am) i (?:have|got|own|work(?:ing)? on)?|i (?:have|own|am working on)`)
	byMe       = phrase(`(?:(?:created|reported|filed|raised|opened|submitted|written) by me)|(?:did|have) i (?:created?|report(?:ed)?|filed?|raised?|open(?:ed)?|submit(?:ted)?)|i (?:created?|report(?:ed)?|filed?|raised?|opened|submit(?:ted)?)`)
	topic      = phrase(`(?:that |which |who |to )?(?:about|mention(?:s|ing|ed)?|contain(?:s|ing|ed)?|regarding|concerning|relat(?:ed|ing) to|deal(?:s|ing)? with|talk(?:s|ing)? about|(?:have |has )?to do with)(?: the (?:words?|terms?))?`)
	topicEnd   = regexp.MustCompile(`(?i)\b(?:in|of|by|for|from|since|before|after|between|during|last|this|that (?:is|are|were|was|have|has)|which|created|opened|reported|updated|changed|closed|resolved|assigned|per|are|is|were|was|have|has|do|does|did|exist|and (?:are|is|were|was|created|assigned))\b|[|,.?!;:]`)
)

// about takes what texts must be about, up to the next filter.
func (q *reader) about() {
	at := topic.FindStringIndex(q.rest)
	if at == nil {
		return
	}
	rest := q.rest[at[1]:]
	size := len(rest)
	if end := topicEnd.FindStringIndex(rest); end != nil {
		size = end[0]
	}
	q.Words = append(q.Words, content(rest[:size])...)
	q.rest = q.rest[:at[0]] + bar + rest[size:]
}

// role says which members of filters words can be a value of, by what stands around them. A clear
// one is always such a value: if none is stored, the question is about nothing that exists.
type role struct {
	members       []string
	before, after *regexp.Regexp
	isClear       bool
}

func behind(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + pattern + `)(?: the)? $`)
}

func ahead(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + pattern + `)(?:\b|$)`)
}

const filing = `(?:report|creat|fil|rais|submit|open|log)\pL*`

var roles = []role{
	{[]string{"reporter"}, behind(filing + ` by|reporter(?: is)?`), nil, true},
	{[]string{"reporter"}, behind(`did|has|have`), ahead(` ` + filing), true},
	{[]string{"assignee"}, behind(`assigned to|owned by|(?:fixed|closed|resolved|finished|completed|handled|done) by|assignee(?: is)?|belong(?:s|ing)? to`), nil, true},
	{[]string{"assignee"}, behind(`does|did|has|have|had|is|was`), ahead(` (?:have|had|own|got|hold|clos\pL*|fix\pL*|resolv\pL*|finish\pL*|complet\pL*|work\pL*|assigned)`), true},
	{[]string{"assignee", "projects"}, nil, regexp.MustCompile(`^(?:'s|’s|s’)(?: |$)`), true},
	{[]string{"priorities"}, behind(`priority|priority is|priority of|prioritised as|prioritized as`), nil, true},
	{[]string{"priorities"}, nil, ahead(` (?:priority|prio)`), true},
	{[]string{"priorities", "labels", "projects"}, nil, ahead(` (?:(?:open|unresolved|closed) )?(?:` + tickets + `)`), false},
	{[]string{"labels"}, behind(`label(?:l?ed)?|tag(?:ged)?|tags|labels|label(?:l?ed)? with|label(?:l?ed)? as|tagged with|tagged as`), nil, true},
	{[]string{"types"}, behind(`type|type is|kind|of type`), nil, true},
	{[]string{"statuses"}, behind(`status|state|status is|status of|column`), nil, true},
	{[]string{"statuses"}, behind(`in|are|is|still|were|currently`), nil, false},
	{[]string{"statuses"}, nil, ahead(` (?:` + tickets + `)`), false},
	{[]string{"projects"}, behind(`project|project named`), nil, true},
	{[]string{"projects"}, nil, ahead(` project`), true},
	{[]string{"projects"}, behind(`in|inside|within|on`), nil, false},
	{[]string{"assignee", "projects"}, behind(`of|for|by|from|does|did|has|have|with|to|is`), nil, false},
}

var (
	token   = regexp.MustCompile(`[\pL\pN@#&+](?:[^\s|,;!?()"]*[\pL\pN+#])?`) // a word, without the punctuation around it
	another = regexp.MustCompile(`\| *(?:or|and|nor|,|, or|, and|&|/) $`)
	negated = regexp.MustCompile(`(?i)\b(?:not|non|except|excluding|without|other than|isn['’]t|aren['’]t|apart from|but not)(?: in| in the| for| of| by| the| assigned to)*[ -]$`)
)

// read places states, people and stored values.
func (q *reader) read() {
	if q.take(unassigned) != nil {
		q.Filters.Assignee = filter.Values{nil}
	}
	if q.take(overdue) != nil {
		q.Filters.Due.To = q.today.AddDate(0, 0, -1).Format("2006-01-02")
		q.setOpen(true)
	}
	if q.take(byMe) != nil {
		q.Filters.Reporter = filter.Values{"me"}
	}
	if q.take(mine) != nil {
		q.Filters.Assignee = filter.Values{"me"}
	}
	q.stored(false)
	q.stored(true)
	if q.take(isOpen) != nil {
		q.setOpen(true)
	}
	if q.Filters.Open == nil && q.take(isDone) != nil && q.dated != "resolved" && q.Sort != "resolved" && q.GroupBy != "resolved" {
		q.setOpen(false)
	}
}

func (q *reader) setOpen(open bool) { q.Filters.Open = &open }

const valueWords = 7 // of one value

// stored places the values that stand in the question, the longest first; similar: what resembles a
// value.
func (q *reader) stored(similar bool) {
	for size := valueWords; size > 0; size-- {
		for at := token.FindAllStringIndex(q.rest, -1); len(at) >= size; at = at[1:] {
			start, end := at[0][0], at[size-1][1]
			if areNext(q.rest, at[:size]) && !isGrammar(q.rest[start:end], similar) && q.place(start, end, size, similar) {
				at = append([][]int{nil}, token.FindAllStringIndex(q.rest, -1)...)
			}
		}
	}
}

// isGrammar reports whether words cannot be a value: a similar one has no word of the language but
// those that join names.
func isGrammar(text string, similar bool) bool {
	words := strings.Fields(strings.ToLower(text))
	if strings.EqualFold(text, "open") || strings.EqualFold(text, "all") || monthName.MatchString(text) {
		return true
	}
	return similar && slices.ContainsFunc(words, func(word string) bool {
		return len(content(word)) == 0 && !strings.Contains(" and & of / ", " "+word+" ")
	}) ||
		similar && (len(content(words[0])) == 0 || len(content(words[len(words)-1])) == 0)
}

// areNext reports whether words stand side by side.
func areNext(text string, at [][]int) bool {
	for i := range at[1:] {
		if text[at[i][1]:at[i+1][0]] != " " {
			return false
		}
	}
	return true
}

// place makes the words there a filter, if they are a value in the role that they have.
func (q *reader) place(start, end, size int, similar bool) bool {
	text := q.rest[start:end]
	owner := strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s")
	end -= len(text) - len(owner)
	before, after := q.rest[:start], q.rest[end:]
	first, _ := utf8.DecodeRuneInString(owner)
	isName := unicode.IsUpper(first) || first == '@'
	if !similar && (q.try([]string{"statuses", "types"}, start, end, false) || (size > 1 || len(owner) > 1 && owner == strings.ToUpper(owner)) && q.try([]string{"projects"}, start, end, false) ||
		(size > 1 || another.MatchString(before)) && q.try([]string{"assignee", "priorities"}, start, end, false)) {
		return true
	}
	for _, role := range roles {
		if role.before != nil && !role.before.MatchString(before) || role.after != nil && !role.after.MatchString(after) {
			continue
		}
		isExact := similar && !isName && !role.isClear && role.members[0] != "statuses" && role.members[0] != "projects"
		if !isExact && q.try(role.members, start, end, similar) {
			if role.before != nil && role.after != nil { // a verb, which is a part of the role
				q.rest = q.rest[:len(q.rest)-len(after)] + bar + role.after.ReplaceAllString(after, "")
			}
			return true
		}
		if similar && size == 1 && (role.isClear || isName && (role.members[0] == "projects" || role.members[0] == "assignee")) && q.isLookedUp() {
			q.Names = append(q.Names, Name{role.members[0], owner, []string{}})
			q.cut(start, end)
			return true
		}
	}
	return false
}

func (q *reader) isLookedUp() bool { return len(q.values.asked)+len(q.values.resemble) == 0 }

// try makes the words there a value of the first member that has it.
func (q *reader) try(members []string, start, end int, similar bool) bool {
	text := strings.TrimPrefix(q.rest[start:end], "@")
	for _, member := range members {
		found := q.values.lookup(member, text, similar)
		if one := singular(text); len(found) == 0 && member == "types" && one != text {
			found = q.values.lookup(member, one, similar)
		}
		switch {
		case len(found) == 1:
			q.add(member, found[0], start, end)
			return true
		case len(found) > 1:
			q.Names = append(q.Names, Name{member, text, found})
			q.cut(start, end)
			return true
		}
	}
	return false
}

func (q *reader) cut(start, end int) { q.rest = q.rest[:start] + bar + q.rest[end:] }

// add adds a value to the filters, and cuts its words out of the question.
func (q *reader) add(member, value string, start, end int) {
	members := &q.Filters
	if m := negated.FindStringIndex(q.rest[:start]); m != nil {
		if q.Filters.Not == nil {
			q.Filters.Not = &filter.Members{}
		}
		members, start = q.Filters.Not, m[0]
	}
	for _, m := range members.Typed() {
		if m.Name != member {
			continue
		}
		if list, is := m.Value.(*filter.Values); is && !slices.Contains(*list, any(value)) {
			*list = append(*list, value)
		}
		if labels, is := m.Value.(*filter.Labels); is {
			labels.Any = append(labels.Any, value)
		}
	}
	q.cut(start, end)
	if member == "types" { // bugs are tickets
		q.rest = q.rest[:start] + " tickets " + q.rest[start+len(bar):]
	}
}

var monthName = regexp.MustCompile(`(?i)^(?:` + months + `)$`)

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ses") || strings.HasSuffix(word, "xes"):
		return word[:len(word)-2]
	}
	return strings.TrimSuffix(word, "s")
}

// unfilterable are words for what no filter expresses: other fields, comparisons, and sums.
var unfilterable = phrase(`story ?points?|points|sprints?|velocity|estimat\pL*|components?|versions?|releases?|milestones?|watchers?|votes?|comments?|attachments?|hours?|effort|` +
	`sub-?tasks?|links?|more than|less than|at least|at most|fewer|greater|longer|shorter|average|median|mean|percent\pL*|ratio|share|proportion|fraction|sum|twice|both|either|than|` +
	`times?|reopened|how long|how often|duplicates?|block(?:s|ing)|depend\pL*|per`)

// modified are the words before one for tickets: payment tickets.
var modified = regexp.MustCompile(`(?i)((?:[\pL\pN][^\s|,.?!;:]* ){1,3})(?:` + tickets + `)\b`)

// mostWords is how many words a question may leave for its texts. More are a story.
const mostWords = 4

// leftovers takes what is left for words that texts must contain.
func (q *reader) leftovers() {
	for m := q.take(unfilterable); m != nil; m = q.take(unfilterable) {
		q.Unread = append(q.Unread, m[0])
	}
	for _, at := range modified.FindAllStringSubmatchIndex(q.rest, -1) {
		q.Words = append(q.Words, content(q.rest[at[2]:at[3]])...)
	}
	rest := content(modified.ReplaceAllString(q.rest, bar))
	if len(rest) > mostWords || q.Intent == Count || q.Intent == Group { // no figure may depend on a guess
		q.Unread = append(q.Unread, rest...)
		return
	}
	q.Words = append(q.Words, rest...)
}

// content returns the words of a text that are neither grammar nor words for tickets and fields.
func content(text string) (words []string) {
	text = noun.ReplaceAllString(verbs.ReplaceAllString(text, " "), " ")
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`|,;!?()"&`, r) }) {
		word = strings.Trim(word, ".:'’-")
		if word != "" && !stop[strings.ToLower(word)] {
			words = append(words, word)
		}
	}
	return words
}

// stop are the words of questions that say nothing about texts.
var stop = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`a about ago all already also altogether am among amongst an and any anybody anyone anything are aren't as ask asked assigned assignee assignees at
		available be because been being board both break breakdown but by can category column could count current currently date dates did distribution do does doing down each else entire ever
		every everything exactly exist existing exists find for found frequent from get give got grouped had has have haven't having he hello help her hey hi him his how i i'd i'm if in into is isn't
		it its just kind know label labelled labels last let like list look many marked me more most much my name named need needs next no not now number of off on one ones only or other our
		out over overall overview own person please priority project projects put quick quickly really recent recently reporter right s see set she show since so some split state status still
		sum summary system tagged team teams tell than that that's the their them then there there's these they this those to today together total tracker type under until up us vs want was
		we we've were what what's when where which who who's whom whose will with within without wondering work working would yet you your backlog again whole belong belongs come came`) {
		words[word] = true
	}
	return words
}()
