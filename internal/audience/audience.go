// Package audience decides which texts only some may read, before their fields are read. It
// knows the words that trackers and writers use for that, and no format of files. It fails closed:
// what is not plainly for everybody is limited.
package audience

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tasklens/internal/clean"
)

// Limit is what says that not everybody may read a text. The zero Limit says nothing.
type Limit struct {
	Why   string // the member and its value
	Doubt bool   // a name that is not known has a word of privacy in it
}

// Of returns what limits a text by a member of its record or, without a name, by all of the record,
// which is the value: plain, or JSON of any depth in which names may repeat. The status of a ticket
// is that of its work, and whether it is a draft is in doubt.
func Of(isTicket bool, name, value string) Limit {
	s := search{isTicket: isTicket}
	s.visit(member{rule: other}, name, value)
	return s.Limit
}

// OfComment returns what limits a comment or note by its record. Jira's XML has the group as its
// level.
func OfComment(record string) Limit {
	limit := Of(false, "", record)
	var comment struct{ Level json.RawMessage }
	if limit.Why == "" && json.Unmarshal([]byte(record), &comment) == nil {
		limit = Of(false, "grouplevel", string(comment.Level))
	}
	return limit
}

// OfText returns what limits a document by what looks like its record: the lines at its beginning,
// between marks or in braces. Without these they may be its text, so that plain words count only.
func OfText(document string) Limit {
	s := search{isPlain: true}
	s.lines(head.FindStringSubmatch(document)[1])
	if block := marked.FindStringSubmatch(document); block != nil {
		s.isPlain, s.isHead = false, true
		s.lines(block[1] + block[2])
	}
	return s.Limit
}

// Knows reports whether a member of this name says who may read a text, and nothing else.
func Knows(name string) bool {
	r := ruleOf(name)
	return r.saysWho() && !r.doubt
}

var (
	head    = regexp.MustCompile(`(?s)\A(?:\s|\x{FEFF}|<!--|#{1,6}\s[^\n]*)*(.*?)(?:\n\s*\n|\z)`)
	marked  = regexp.MustCompile(`(?ms)\A(?:\s|\x{FEFF}|<!--.*?-->|#{1,6}\s[^\n]*)*(?:(?:-{3}|\+{3}|;{3})[^\n]*\n\s*|\{[^{%#])(?:(.*?)^(?:-{3}|\+{3}|;{3}|\.{3}|\})|(.*?)(?:\n\s*\n|\z))`)
	record  = regexp.MustCompile(`^[{\[]+\s*["']`) // but not {code}
	pair    = regexp.MustCompile(`^[\s>*%;@?(\-#+/."']*([\p{L}\p{N}_$][^:=：]{0,80}?)["'\s]*(?:[:：]+|=+>?)\s*(.*)$`)
	wrapped = regexp.MustCompile(`^[\s\-(|>&!"']+|(?:\s*#.*|-->)?[\s,;)"']*$`)
	beside  = values("id|self|url|href|color|position|order|shoulddisplay") // a value, not what it is
	calling = values("key|name|field|label|id|property|title|attribute|code|type")
	stated  = regexp.MustCompile(`draft|publish`)
	said    = values(few, yes, no)
)

// A rule says of names whether a member tells who may read a text: everybody by the open values, or
// else by all but the shut ones.
type rule struct {
	names      func(string) bool
	open, shut *regexp.Regexp
	doubt      bool
}

func (r *rule) saysWho() bool { return r.open != nil || r.doubt }

// The words of names, without signs and in lower case. Those of the first kinds make names that are
// plain, alone, together and with words that mean nothing beside them.
const (
	closed    = `private|privat|nonpublic|notpublic|notpublished|donotpublish|donotshare|notvisible|hidden|hidefrom|unpublished|unlisted|internal|confidential|invisible|secret|sensitive|classified|drafts?|deleted|trash|trashed|minimized|embargo|embargoed|withheld|whisper|nda|password|passwordprotected|(?:staff|agents?|teams?|admins?|employees?|members?|subscribers|customers|company|hr|moderators|owners?|developers|eyes)only`
	limiting  = `restrict|restricted|restrictions?|restricts|limitedto|limitto|security`
	published = `published|publish(?:date|on|at|time)`
	public    = `public|publish|openaccess`
	naming    = `access|acls?|audiences?|viewers|viewer(?:group|role)s?|readers|roles|groups|permissions?|(?:allowed|permitted|authorized)(?:users|groups|roles|teams|people|viewers|readers|to|for)|sharedwith|sharewith|sharing|viewableby|readableby|viewby|readby|viewstate|usersegment|(?:role|group|action)level|privacy|sensitivity|confidentiality|clearance|tlp|cansee|canview|canread|whocan(?:see|view|read)`
	visible   = `visible|visibility|shows?to|shows?in|shownto|shownin|customerfacing|clientfacing`
	filling   = `is|was|are|be|to|for|by|in|on|at|from|with|of|the|only|x|u|cf|dg|sd|jsd|remote|custom|fields?|flag|issues?|tickets?|comments?|notes?|reply|replies|articles?|posts?|pages?|documents?|docs?|messages?|items?|levels?|types?|status|state|settings?|mode|scheme|date|time|since|until|users?|people|customers?|clients?|portal|agents?|staff|teams?|members?|group|role|admins?|end|reason|view|and|or|not|label|allowed|permitted|authorized`
)

// The values. Few are those of a status or kind that say who may read.
const (
	all  = `\*|all|all users|any|any(?:one|body)|every(?:one|body)|world|(?:jsd |general )?public|open|visible|published|unrestricted|unlimited ?(?:visibility)?|unclassified|anonymous|tlp:(?:clear|white)`
	yes  = `1|t|y|yes|on|true|x|checked|✓`
	no   = `0|f|n|no|off|false|none`
	null = `|null|nil|~`
	day  = `(?:19|20)\d\d-?\d\d-?\d\d.*`
	few  = `(?:internal|private|confidential|restricted|hidden|secret|deleted|drafts?|nonpublic|unpublished|unlisted|classified|trash(?:ed)?|embargoed|whisper)(?:only)?(?:notes?|comments?|reply|replies)?|(?:work|staff|agents?|team|admins?)(?:notes?|only)`
)

// The first rule for a name counts.
var (
	rules = []*rule{
		apart, content,
		{named(closed), values(no, null), nil, false},
		{named(limiting), values(no, null, all), nil, false},
		{named(published), values(yes, null, all, day), nil, false},
		{named(public), values(yes, all), nil, false},
		{named(naming), values(null, all, day), nil, false},
		{named(visible), values(yes, null, all), nil, false},
		{with("", "visib"), values(yes, null, all), nil, true},
		{with("", "private internal confidential restrict hidden _secret_ _secrets_ unpublish embargo audience security privacy _access_ _acl_ _draft _deleted permission unlisted classified _nda_ trashed"), values(no, null, all), nil, true},
		{with("", "_public_ _publish_ _published_ classif _part_type_"), nil, values(few, "f|n|no|off|false|note"), true},
		other,
	}
	apart   = &rule{names: with(" ", "comment comments note notes worklog worklogs attachment attachments changelog issuelinks subtasks parent author updateauthor user assignee assignees reporter creator content names schema editmeta operations transitions renderedfields versionedrepresentations expandable performedviagithubapp")} // another record
	content = &rule{names: with(" ", "body bodytext bodyhtml text description descriptiontext summary title subject message html markdown name displayname environment id key tag tags keyword keywords label labels category categories alias aliases topic topics slug")}
	other   = &rule{names: with("", ""), shut: values(few)}
)

func values(words ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join(words, "|") + `)$`)
}

// named matches names, and parts of a path, that are made of these words and others of the kinds.
func named(words string) func(string) bool {
	others := "(?:" + strings.Join([]string{filling, closed, limiting, published, public, naming, visible}, "|") + ")*"
	return regexp.MustCompile("[ .]" + others + "(?:" + words + ")" + others + `[ .]`).MatchString
}

// with matches names that hold one of these words, or are one of them after a space.
func with(space, words string) func(string) bool {
	list := strings.Split(words, " ")
	return func(text string) bool {
		return slices.ContainsFunc(list, func(word string) bool { return strings.Contains(text, space+word+space) })
	}
}

// known are the rules of the first names, which most records share.
var (
	known sync.Map
	count atomic.Int32
)

// ruleOf finds the rule of a name: of its words, or without signs, with the parts of a path after
// it.
func ruleOf(name string) *rule {
	if found, is := known.Load(name); is {
		return found.(*rule)
	}
	name = name[:min(len(name), 1000)]
	text := words(name)
	text += " " + strings.ReplaceAll(text, "_", "") + " ."
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("./[]>:", r) }) {
		text += fold(part) + "."
	}
	found := rules[slices.IndexFunc(rules, func(r *rule) bool { return r.names(text) })]
	if count.Add(1) < 10_000 {
		known.Store(name, found)
	}
	return found
}

var (
	hump = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	sign = regexp.MustCompile(`[^\p{L}\p{N}]+`)
)

// words returns the words of a name in lower case: _fix_version_ for fixVersion.
func words(name string) string {
	return strings.ToLower(sign.ReplaceAllString("_"+hump.ReplaceAllString(name, "${1}_$2")+"_", "_"))
}

func fold(name string) string { return strings.ReplaceAll(words(name), "_", "") }

// member is what a value belongs to.
type member struct {
	*rule
	name string
}

func memberOf(name string) member { return member{ruleOf(name), name} }

type search struct {
	Limit
	name     string // of the member that limits
	isTicket bool
	isPlain  bool // what limits is plain words
	isHead   bool // of a document, rather than a value that looks like a record
	depth    int
}

// visit judges a value by the rule of its name, else by that of the member around it.
func (s *search) visit(in member, name, value string) {
	if own := memberOf(name); own.saysWho() || !in.saysWho() && name != "" {
		in = own
	}
	value = strings.TrimSpace(value)
	isNested := value != "" && strings.Contains("{[", value[:1]) && json.Valid([]byte(value))
	var plain string
	switch {
	case in.rule == apart, in.rule == content && !isNested:
	case isNested:
		s.each(in, members(value))
	case json.Unmarshal([]byte(value), &plain) == nil && plain != "":
		s.visit(in, "", plain)
	case !in.saysWho() && record.MatchString(value):
		s.lines(value)
	default:
		s.judge(in, value)
	}
}

// members returns what is in a JSON value, with names in an object.
func members(value string) (all [][2]string) {
	in := json.NewDecoder(strings.NewReader(value))
	for open, _ := in.Token(); in.More(); {
		var name json.Token = ""
		if open == json.Delim('{') {
			name, _ = in.Token()
		}
		var inner json.RawMessage
		if in.Decode(&inner) != nil {
			break
		}
		all = append(all, [2]string{name.(string), string(inner)})
	}
	return all
}

func (s *search) each(in member, all [][2]string) {
	if s.depth++; s.depth > 100 {
		s.add("its nesting", "", false)
		return
	}
	called := in // {"name": "Security Level", "value": "HR"}
	if slices.ContainsFunc(all, isValue) {
		for _, m := range all {
			if calling.MatchString(fold(m[0])) && Knows(m[1]) {
				called = memberOf(m[1])
			}
		}
	}
	isBeside := func(m [2]string) bool { return in.saysWho() && beside.MatchString(fold(m[0])) }
	if values := slices.DeleteFunc(slices.Clone(all), isBeside); len(values) > 0 {
		all = values
	}
	for _, m := range all {
		if s.visit(in, m[0], m[1]); isValue(m) {
			s.visit(called, m[0], m[1])
		}
	}
	s.depth--
}

func isValue(member [2]string) bool { return strings.HasPrefix(member[0], "value") }

// judge limits the text by a value.
func (s *search) judge(in member, value string) {
	v := strings.ToLower(strings.Trim(strings.ReplaceAll(value[:min(len(value), 100)], "_", " "), " \"'"))
	limits := in.open != nil && !in.open.MatchString(v) || in.shut != nil && in.shut.MatchString(fold(v))
	if in.rule == other && s.isTicket || s.isPlain && (in.doubt || !said.MatchString(v) && !said.MatchString(fold(v))) {
		return
	}
	if limits {
		s.add(in.name, value, in.doubt || s.isTicket && stated.MatchString(fold(in.name)))
	}
}

func (s *search) add(name, value string, doubt bool) {
	if s.Why == "" || s.Doubt && !doubt || s.name == name { // the last value names people best
		s.name, s.Limit = name, Limit{oneLine(name), doubt}
		if value = oneLine(value); value != "" && !strings.ContainsAny(value, "0123456789…") { // a time, an id, a text
			s.Why += ": " + value
		}
	}
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.Trim(text, `"' `)), " ")
	if len(text) > 60 {
		text = clean.ClipBytes(text, 60) + "…"
	}
	return text
}

// lines judges what looks like a record in no known language, by the names and values between its
// line breaks, brackets and commas. A value that is elsewhere limits, and a line of which nothing
// is read but a word of privacy. Prose does not.
func (s *search) lines(block string) {
	in, found, pairs, prose := member{rule: other}, *s, 0, 0
	for row := range strings.SplitSeq(strings.ReplaceAll(block, `\"`, `"`), "\n") {
		text, before := strings.TrimSpace(row), pairs
		if text == "" || text[0] == '#' && !strings.HasPrefix(text, "#+") {
			continue
		}
		if !strings.Contains(" \t-", row[:1]) {
			in = member{rule: other}
		}
		for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("{}[],", r) }) {
			p := pair.FindStringSubmatch(piece)
			if p != nil {
				in, piece = memberOf(p[1]), p[2]
				pairs++
			}
			switch value := wrapped.ReplaceAllString(piece, ""); {
			case in.name == "":
			case s.isHead && calling.MatchString(fold(in.name)) && Knows(value) && strings.ContainsAny(text, "{-"):
				found.add(value, "", false) // name: Security Level, value: HR
			case value != "":
				found.visit(in, "", value)
			case p != nil && in.saysWho() && !s.isPlain:
				found.add(in.name, "", in.doubt)
			}
		}
		switch {
		case pairs > before:
		case s.isPlain:
			*s = found
			return
		case in.name == "" && ruleOf(text).open != nil:
			found.add(text, "", false)
		}
		if pairs == before && len(strings.Fields(text)) > 3 {
			prose++
		}
	}
	if prose <= pairs {
		*s = found
	}
}
