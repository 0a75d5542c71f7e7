package ask

import "slices"

// fields are what tickets are grouped by. The last ones are periods.
var fields = newVocabulary(
	[2]string{"assignee", `assignees?|people|persons?|engineers?|developers?|owners?|team members?`},
	[2]string{"reporter", `reporters?|authors?|creators?`},
	[2]string{"status", `status(?:es)?|states?|columns?`},
	[2]string{"project", `projects?`},
	[2]string{"label", `labels?|tags?`},
	[2]string{"type", `(?:ticket |issue )?types?|kinds?`},
	[2]string{"priority", `priorit(?:y|ies)|severit(?:y|ies)`},
	[2]string{"day", `days?`}, [2]string{"week", `weeks?`}, [2]string{"month", `months?`}, [2]string{"quarter", `quarters?`}, [2]string{"year", `years?`},
)

var (
	howMany  = phrase(`how many|(?:what(?:'s|’s| is| was) )?(?:the )?(?:total )?(?:number|count) of|count(?: up)?(?: (?:all|the|of|my|our))*`)
	each     = phrase(`(?:per|by|(?:for|in|by|of|on) (?:each|every)|each|across) (?:the |all |our )*(` + fields.words + `)`)
	ofField  = phrase(`(?:which|what) (` + fields.words + `)`)
	who      = phrase(`who(?:m|se)?`)
	most     = phrase(`(?:the )?(?:(fewest|least|lowest number of|smallest number of)|most|busiest|highest number of|largest number of)(?: common(?:ly)?| frequent(?:ly)?| often| used| active)?`)
	extreme  = phrase(`(?:(` + dateVerbs.words + `) )?(?:the )?(?:(` + one + `) )?(?:(oldest|earliest|first|longest)|newest|latest|last)(?: (` + one + `))?(?: (` + dateVerbs.words + `))?`)
	soonest  = phrase(`(?:due (?:next|soonest|first|earliest)|next (?:to be )?due)`)
	show     = phrase(`^\W*(?:(?:please|can|could|would|you|now|ok|and) )*(?:show|list|find|give|get|display)(?: me| us)?`)
	bare     = phrase(`^\W*(?:[^\s?]+ ){0,4}(?:` + tickets + `)`)
	asks     = phrase(`why|how|where|when|does|do|did|is|are|was|were|can|could|should|would|will|has|have`)
	which    = phrase(`which|what|whose|are there|is there|(?:do|did) (?:we|you|they) have|any`)
	isWhat   = phrase(`^\W*(?:what(?:'s|’s| is| are| was| were| has| have| did| changed| happened| got| else)|who(?:'s|’s| is)|(?:is|are|was|were|do we have|is there) any(?:thing)?|which (?:are|ones?|of|were))`)
	reported = phrase(`report(?:s|ed|ing)?|creat(?:e|es|ed|ing)|fil(?:e|es|ed|ing)|rais(?:e|es|ed|ing)|submit(?:s|ted|ting)?|opened|open(?:s|ing)? the|wrote|logged`)
)

// hasCue reports whether a question may be about fields. Only then is anything looked up.
func hasCue(question string) bool {
	q := reader{rest: question}
	if key.MatchString(question) {
		return false // the named ticket is a source, with its fields
	}
	q.aim()
	return q.Intent != Prose
}

// aim finds out what is wanted, and cuts out the words that say it.
func (q *reader) aim() {
	ofTickets := q.prior != Prose || q.has(noun)
	switch {
	case q.has(each):
		q.group(q.take(each)[1])
	case q.has(ofField) && q.has(most):
		q.group(q.take(ofField)[1])
	case q.has(who) && q.has(most):
		q.take(who)
		q.group("assignee")
		if q.has(reported) {
			q.GroupBy = "reporter"
		}
	case q.take(howMany) != nil:
		q.Intent = Count
	case (ofTickets || q.has(isWhat)) && q.take(soonest) != nil:
		q.Intent, q.Sort, q.Ascending, q.Limit = Extreme, "due", true, 1
	case ofTickets && q.has(extreme):
		m := q.take(extreme) // a verb, a number, whether it is the first, a number, a verb
		q.Intent, q.Ascending, q.Limit = Extreme, m[3] != "", max(1, number(m[2]+m[4]))
		if member := dateVerbs.meant(m[1] + m[5]); member != "" {
			q.Sort = member
		}
	case q.has(isWhat), ofTickets && (q.take(show) != nil || q.has(which)), q.prior == Prose && q.has(bare) && !q.has(asks):
		q.Intent = List
	default:
		q.Intent = q.prior
	}
}

// group sets the field by whose values tickets are counted.
func (q *reader) group(word string) {
	q.Intent, q.GroupBy = Group, fields.meant(word)
	if slices.Contains(choices["period"], q.GroupBy) {
		q.Period, q.GroupBy = q.GroupBy, "created"
		if member := dateVerbs.meant(q.rest); member != "" {
			q.GroupBy = member
		}
	}
	q.take(howMany)
	m := q.take(most)
	q.Ranked = m != nil
	q.Fewest = q.Ranked && m[1] != ""
}
