package figures

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	topic    = phrase(`(?:that |which |who |to )?(?:about|mention(?:s|ing|ed)?|contain(?:s|ing|ed)?|regarding|concerning|relat(?:ed|ing) to|deal(?:s|ing)? with|talk(?:s|ing)? about|(?:have |has )?to do with)(?: the (?:words?|terms?))?`)
	topicEnd = regexp.MustCompile(`(?i)\b(?:in|of|by|for|from|since|before|after|between|during|last|this|that (?:is|are|were|was|have|has)|which|created|opened|reported|updated|changed|closed|resolved|assigned|per|are|is|were|was|have|has|do|does|did|exist|and (?:are|is|were|was|created|assigned))\b|[|,.?!;:]|$`)
	ofFields = phrase(tickets + "|" + verb)
	// payment tickets
	modified = regexp.MustCompile(`(?i)((?:[\pL\pN][^\s|,.?!;:]* ){1,3})(?:` + tickets + `)\b`)
	// what tickets do
	deed = regexp.MustCompile(`(?i)\b(?:` + tickets + `) +(?:that |which )?(\pL+)`)
	// what no filter expresses: other fields, comparisons, and sums
	unfilterable = phrase(`story ?points?|points|sprints?|velocity|estimat\pL*|components?|versions?|releases?|milestones?|watchers?|votes?|comments?|attachments?|hours?|effort|` +
		`sub-?tasks?|links?|more than|less than|at least|at most|fewer|greater|longer|shorter|average|median|mean|percent\pL*|ratio|share|proportion|fraction|sum|twice|both|either|than|` +
		`times?|reopened|how long|how often|duplicates?|block(?:s|ing)|depend\pL*|per|` +
		`(?:no|not|never|without|missing|lack(?:s|ing)?)(?: an?| any| been| yet)* (?:` + fieldWords + `|due dates?|deadlines?|labell?ed|tagged)|un(?:labell?ed|tagged)|` +
		`(?:has|have|with) an? (?:due date|deadline|label)(?:[?.!]?$| (?:and|but|or|are|is|were|was)\b)`)
	// what would turn a figure into its opposite if it were dropped
	negation = phrase(`not|never|without|except|excluding|\pL+n['’]t`)
	// what would be read as a person or a date
	misread = phrase(`(?:nobody|no one|no-one)(?: has| have| ever)* (?:` + verb + `)|an? (?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tues|wednes|thurs|fri|satur|sun)days`)
	// which 3 tickets
	wanted = regexp.MustCompile(`(?i)(?:^|\||\b(?:which|what|the|me)) *(two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) [| ]*(?:` + tickets + `)\b`)
)

// subject takes the words that texts must have: what is quoted, and what they are about, up to the
// next filter.
func (q *reader) subject() {
	for m := q.take(quotation); m != nil; m = q.take(quotation) {
		q.Words = append(q.Words, m[1])
	}
	if at := topic.FindStringIndex(q.rest); at != nil {
		end := at[1] + topicEnd.FindStringIndex(q.rest[at[1]:])[0]
		q.Words = append(q.Words, content(q.rest[at[1]:end])...)
		q.cut(at[0], end)
	}
}

// mostWords is how many words a question may leave for its texts. More are a story.
const mostWords = 4

// leftovers takes what is left for words that texts must contain.
func (q *reader) leftovers() {
	if q.Intent == list || q.Intent == edge {
		if m := q.take(wanted); m != nil {
			q.Limit = number(m[1])
		}
	}
	for _, unplaced := range []*regexp.Regexp{unfilterable, negation} {
		q.unread = append(q.unread, unplaced.FindAllString(q.rest, -1)...)
		q.rest = unplaced.ReplaceAllString(q.rest, bar)
	}
	for _, m := range modified.FindAllStringSubmatch(q.rest, -1) {
		q.Words = append(q.Words, content(m[1])...)
	}
	rest := content(modified.ReplaceAllString(q.rest, bar))
	does := deed.FindStringSubmatch(q.rest)
	// A question without a verb of ours that goes on after the tickets is a sentence, perhaps of
	// another language.
	goesOn := slices.ContainsFunc(content(q.after), func(word string) bool { return slices.Contains(rest, word) })
	// No figure may depend on a guess: of how many tickets crash on startup, it names the words.
	if len(rest) > mostWords || goesOn || q.Intent == group || q.Intent == count && (does == nil || len(content(does[1])) == 0) {
		q.unread = append(q.unread, rest...)
	} else {
		q.Words = append(q.Words, rest...)
	}
}

// content returns the words of a text that are neither grammar nor words for tickets and fields.
func content(text string) (words []string) {
	text = ofFields.ReplaceAllString(text, " ")
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`|,;!?()"&`, r) }) {
		word = strings.Trim(word, ".:'’-")
		if word != "" && !strings.Contains(grammar, " "+strings.ToLower(word)+" ") {
			words = append(words, word)
		}
	}
	return words
}

// grammar are the words of questions that say nothing about texts.
var grammar = " " + strings.Join(strings.Fields(`a about ago all already also altogether am among amongst an and any anybody anyone anything are aren't as ask asked assigned assignee assignees at
	available be because been being board both break breakdown but by can category column could count current currently date dates did distribution do does doing down each else entire ever
	every everything exactly exist existing exists find for found frequent from get give got grouped had has have haven't having he hello help her hey hi him his hold holds how i i'd i'm if in into is isn't
	it its just kind know label labelled labels last let like list look many marked me more most much my name named need needs next no not now number of off on one ones only or other our
	out over overall overview own person please priority project projects put quick quickly really recent recently reporter right s see set she show since so some split state status still
	sum summary system tagged team teams tell than that that's the their them then there there's these they this those to today together total tracker type under until up us vs want was
	we we've were what what's when where which who who's whom whose will with within without wondering work working would yet you your backlog again whole belong belongs come came`), " ") + " "
