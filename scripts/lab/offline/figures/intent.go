package figures

import (
	"cmp"
	"regexp"
	"strings"
)

// fieldWords are those for what tickets are grouped by, of which the last are periods.
const fieldWords = `(?P<assignee>assignees?|people|persons?|engineers?|developers?|owners?|team members?)|(?P<reporter>reporters?|authors?|creators?)|` +
	`(?P<status>status(?:es)?|states?|columns?)|(?P<project>projects?)|(?P<label>labels?|tags?)|(?P<type>(?:ticket |issue )?types?|kinds?)|` +
	`(?P<priority>priorit(?:y|ies)|severit(?:y|ies))|(?P<day>days?)|(?P<week>weeks?)|(?P<month>months?)|(?P<quarter>quarters?)|(?P<year>years?)`

var (
	howMany  = phrase(`how many|(?:what(?:'s|’s| is| was) )?(?:the )?(?:total )?(?:number|count) of|count(?: up)?(?: (?:all|the|of|my|our))*`)
	each     = phrase(`(?:per|by|(?:for|in|by|of|on) (?:each|every)|each|across) (?:the |all |our )*(?:` + fieldWords + `)`)
	ofField  = phrase(`(?:which|what) (?:` + fieldWords + `)`)
	who      = phrase(`who(?:m|se)?`)
	most     = phrase(`(?:the )?(?:(fewest|least|lowest number of|smallest number of)|most|busiest|highest number of|largest number of)(?: common(?:ly)?| frequent(?:ly)?| often| used| active)?`)
	extreme  = phrase(`(?:(` + verb + `) )?(?:the )?(?:(` + one + `) )?(?:(oldest|earliest|first|longest)|newest|latest|last)(?: (` + one + `))?(?: (` + verb + `))?`)
	soonest  = phrase(`(?:due (?:next|soonest|first|earliest)|next (?:to be )?due)`)
	show     = opening(`(?:(?:please|can|could|would|you|now|ok|and) )*(?:show|list|find|give|get|display)(?: me| us)?`)
	bare     = opening(`(?:[^\s?]+ ){0,4}(?:` + tickets + `)`)
	asks     = phrase(`why|how|where|when|does|do|did|is|are|was|were|can|could|should|would|will|has|have`)
	which    = phrase(`which|what|whose|are there|is there|(?:do|did) (?:we|you|they) have|any`)
	isWhat   = opening(`(?:what(?:'s|’s| is| are| was| were| has| have| did| changed| happened| got| else)|who(?:'s|’s| is)|(?:is|are|was|were|do we have|is there) any(?:thing)?|which (?:are|ones?|of|were))`)
	reported = phrase(`report(?:s|ed|ing)?|creat(?:e|es|ed|ing)|fil(?:e|es|ed|ing)|rais(?:e|es|ed|ing)|submit(?:s|ted|ting)?|opened|open(?:s|ing)? the|wrote|logged`)
)

// hasCue reports whether a question may be about fields. Only then is anything looked up.
func hasCue(question string) bool {
	q := reader{rest: question}
	if key.MatchString(question) {
		return false // the named ticket is a source, with its fields
	}
	q.aim()
	return q.Intent != prose
}

// aim finds out what is wanted, and cuts out the words that say it.
func (q *reader) aim() {
	ofTickets, isList := q.prior.Intent != prose || q.has(noun), q.has(isWhat)
	switch {
	case q.has(each):
		q.group(each)
	case q.has(ofField) && q.has(most):
		q.group(ofField)
	case q.has(who) && q.has(most):
		q.group(who)
	case q.take(howMany) != nil:
		q.Intent = count
	case (ofTickets || isList) && q.take(soonest) != nil:
		q.Intent, q.Sort, q.Ascending, q.Limit = edge, "due", true, 1
	case ofTickets && q.has(extreme):
		m := q.take(extreme) // a verb, a number, whether it is the first, a number, a verb
		q.Intent, q.Ascending, q.Limit = edge, m[3] != "", max(1, number(m[2]+m[4]))
		q.Sort = cmp.Or(meant(verbs, m[1]+m[5]), q.Sort)
	case isList, ofTickets && (q.take(show) != nil || q.has(which)):
		q.Intent = list
	case ofTickets && q.prior.Intent == prose && q.has(bare) && !q.has(asks):
		q.Intent, q.after = list, q.rest[bare.FindStringIndex(q.rest)[1]:]
	default:
		q.Goal = q.prior
	}
}

// group sets the field by whose values tickets are counted.
func (q *reader) group(by *regexp.Regexp) {
	q.Intent, q.GroupBy = group, meant(by, q.rest)
	q.take(by)
	switch {
	case by == who && q.take(reported) != nil:
		q.GroupBy = "reporter"
	case by == who:
		q.GroupBy = "assignee"
	case strings.Contains("day week month quarter year", q.GroupBy):
		q.Period, q.GroupBy = q.GroupBy, cmp.Or(meant(verbs, q.rest), "created")
	}
	q.take(howMany)
	m := q.take(most)
	if m != nil {
		q.Sort, q.Ascending = "size", m[1] != ""
	}
}
