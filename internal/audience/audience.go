// Package audience decides who may read a text, before and apart from the reading of its fields. It
// knows the words that trackers and writers use for that, and no format of files. It fails closed:
// what is not plainly for everybody is limited.
package audience

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
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
	s.visit(member{}, name, value)
	return s.Limit
}

// OfText returns what limits a document by what looks like its record: the lines at its beginning,
// between marks or in braces. Without these they may be its text, so that plain words count only.
func OfText(document string) Limit {
	s := search{isPlain: true}
	s.lines(blank.Split(begin.ReplaceAllString(document, ""), 2)[0])
	if marked := fence.FindStringSubmatch(before.ReplaceAllString(document, "")); marked != nil {
		s.isPlain, s.isHead = false, true
		block := marked[1] + marked[2]
		if end := ending.FindStringIndex(block); end != nil {
			block = block[:end[0]]
		} else {
			block = blank.Split(block, 2)[0]
		}
		s.lines(block)
	}
	return s.Limit
}

// Knows reports whether a member of this name says who may read a text, and nothing else.
func Knows(name string) bool { return ruleOf(name).mode == unless }

var (
	begin   = regexp.MustCompile(`\A(?:\s|\x{FEFF}|<!--|#{1,6}\s.*)+`)
	before  = regexp.MustCompile(`\A(?:\s|\x{FEFF}|<!--(?s:.*?)-->|#{1,6}\s.*)+`)
	fence   = regexp.MustCompile(`(?s)\A(?:(?:-{3}|\+{3}|;{3})[^\n]*\n\s*(.*)|\{([^{%#].*))`)
	ending  = regexp.MustCompile(`(?m)^(?:-{3}|\+{3}|;{3}|\.{3}|\})`)
	record  = regexp.MustCompile(`^[{\[]+\s*["']`) // but not {code}
	stated  = regexp.MustCompile(`draft|publish`)
	blank   = regexp.MustCompile(`\n\s*\n`)
	pair    = regexp.MustCompile(`^[\s>*%;@?(\-#+/."']*([\p{L}\p{N}_$][^:=：]{0,80}?)["'\s]*(?:[:：]+|=+>?)\s*(.*)$`)
	plainly = values(plain)
	said    = values(plain, yes, no)
	beside  = values("id|self|url|href|color|position|order|shoulddisplay") // a value, not what it is
	calling = values("key|name|field|label|id|property|title|attribute|code|type")
	wrapped = regexp.MustCompile(`^[\s\-(|>&!"']+|(?:\s*#.*|-->)?[\s,;)"']*$`)
)

// A rule says how the values of members with some names are judged.
type rule struct {
	mode  mode
	names string // without signs, and in lower case
	value *regexp.Regexp
	list  []string // of the names
}

type mode int

const (
	unknown  mode = iota // limits if the value is a word such as draft
	isText               // says nothing about readers
	isApart              // another record, if it is one
	unless               // limits unless the value is one of these
	asks                 // the same, in doubt
	asksOnly             // limits, in doubt, if the value is one of these
)

// The first rules are for names of these words alone, and of words that mean nothing beside them.
var rules = []rule{
	{unless, "hidden", values(no, none), nil},
	{unless, `private privat nonpublic notpublic notpublished donotpublish donotshare notvisible hidefrom hiddenfrom unpublished unlisted internal confidential restrict restricted restriction restrictions restricts limitedto limitto invisible secret sensitive classified draft drafts deleted trash trashed minimized embargo embargoed withheld whisper nda password passwordprotected security staffonly agentonly agentsonly teamonly teamsonly adminonly adminsonly employeeonly employeesonly memberonly membersonly subscribersonly customersonly companyonly hronly moderatorsonly owneronly ownersonly developersonly eyesonly`, values(no, none, all, "none"), nil},
	{unless, "published publishdate publishon publishat publishtime", values(yes, all, none, day), nil},
	{unless, "public publish openaccess", values(yes, all), nil},
	{unless, `access acl acls audience audiences viewers viewergroup viewergroups viewerrole viewerroles readers roles groups permission permissions allowedusers allowedgroups allowedroles allowedteams allowedpeople allowedviewers allowedreaders allowedto allowedfor permittedusers permittedgroups permittedroles authorizedusers authorizedgroups sharedwith sharewith sharing viewableby readableby viewby readby viewstate usersegment rolelevel grouplevel actionlevel privacy sensitivity confidentiality clearance tlp cansee canview canread whocansee whocanview whocanread`, values(all, none, day), nil},
	{unless, "visible visibility showto showsto showin shownto shownin customerfacing clientfacing", values(yes, all, none), nil},
	{unknown, `is was are be to for by in on at from with of the only x u cf dg sd jsd remote custom field fields flag issue issues ticket tickets comment comments note notes reply replies article articles post posts page pages document documents doc docs message messages item items level levels type types status state setting settings mode scheme date time since until user users people customer customers client clients portal agent agents staff team teams member members group role admin admins end reason view and or not label allowed permitted authorized`, nil, nil},
	{asks, `visib`, values(yes, all, none), nil},
	{asks, `private internal confidential restrict hidden _secret_ _secrets_ unpublish embargo audience security privacy _access_ _acl_ _draft _deleted permission unlisted classified _nda_ trashed`, values(no, none, all, "none"), nil},
	{asksOnly, `_public_ _publish_ _published_`, values(plain, "f|n|no|off|false"), nil},
	{asksOnly, `_part_type_`, values("note"), nil},
	{isApart, `comment comments note notes worklog worklogs attachment attachments changelog issuelinks subtasks parent author updateauthor user assignee assignees reporter creator content names schema editmeta operations transitions renderedfields versionedrepresentations expandable performedviagithubapp`, nil, nil},
	{isText, `body bodytext bodyhtml text description descriptiontext summary title subject message html markdown name displayname environment id key tag tags keyword keywords label labels category categories alias aliases topic topics slug`, nil, nil},
}

const (
	all   = `\*|all|all users|any|any(?:one|body)|every(?:one|body)|world|(?:jsd |general )?public|open|visible|published|unrestricted|unlimited ?(?:visibility)?|unclassified|anonymous|tlp:(?:clear|white)`
	yes   = `1|t|y|yes|on|true|x|checked|✓`
	no    = `0|f|n|no|off|false`
	none  = `|null|nil|~`
	day   = `(?:19|20)\d\d-?\d\d-?\d\d.*`
	plain = `(?:internal|private|confidential|restricted|hidden|secret|deleted|drafts?|nonpublic|unpublished|unlisted|classified|trash(?:ed)?|embargoed|whisper)(?:only)?(?:notes?|comments?|reply|replies)?|(?:work|staff|agents?|team|admins?)(?:notes?|only)`
)

func values(words ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join(words, "|") + `)$`)
}

// lexicon has the places of the rules by the words of their names.
var lexicon = map[string]int{}

func init() {
	for i := range rules {
		rules[i].list = strings.Fields(rules[i].names)
		for _, word := range rules[i].list {
			if i <= filling {
				lexicon[word] = i
			}
		}
	}
}

// filling is the place of the last rule for names of these words alone.
const filling = 6

// first returns the place of the first rule for the words that a name is made of, if it is.
func first(name string) (int, bool) {
	if name == "" || len(name) > 100 {
		return filling, name == ""
	}
	for end := len(name); end > 0; end-- {
		if at, is := lexicon[name[:end]]; is {
			if rest, is := first(name[end:]); is {
				return min(at, rest), true
			}
		}
	}
	return filling, false
}

// ruleOf returns the rule of a name: of a path, also of a part of it.
func ruleOf(name string) rule {
	parted := words(name)
	folded := strings.ReplaceAll(parted, "_", "")
	at, _ := first(folded)
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("./[]>:", r) }) {
		if at == filling && len(part) < len(name) {
			at, _ = first(fold(part))
		}
	}
	if at < filling {
		return rules[at]
	}
	for _, r := range rules[filling+1:] {
		if r.mode >= asks && slices.ContainsFunc(r.list, func(word string) bool { return strings.Contains(parted, word) }) || r.mode < asks && slices.Contains(r.list, folded) {
			return r
		}
	}
	return rule{}
}

// words returns the words of a name in lower case: _fix_version_ for fixVersion.
func words(name string) string {
	out, before := []rune{'_'}, '_'
	for _, r := range name + "_" {
		switch isWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case isWord && unicode.IsUpper(r) && unicode.IsLower(before):
			out = append(out, '_', unicode.ToLower(r))
		case isWord:
			out = append(out, unicode.ToLower(r))
		case out[len(out)-1] != '_':
			out = append(out, '_')
		}
		before = r
	}
	return string(out)
}

func fold(name string) string { return strings.ReplaceAll(words(name), "_", "") }

// member is what a value belongs to.
type member struct {
	rule
	name string
}

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
	if r := ruleOf(name); r.mode >= unless || in.mode < unless && name != "" {
		in = member{r, name}
	}
	value = strings.TrimSpace(value)
	isNested := value != "" && strings.Contains("{[", value[:1]) && json.Valid([]byte(value))
	var plain string
	switch {
	case in.mode == isApart, in.mode == isText && !isNested:
	case isNested:
		s.each(in, members(value))
	case json.Unmarshal([]byte(value), &plain) == nil && plain != "":
		s.visit(in, "", plain)
	case in.mode < unless && record.MatchString(value):
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
	isValue := func(m [2]string) bool { return in.mode < unless || !beside.MatchString(fold(m[0])) }
	only := !slices.ContainsFunc(all, isValue)
	for _, m := range all {
		if only || isValue(m) {
			s.visit(in, m[0], m[1])
		}
		if !calling.MatchString(fold(m[0])) || len(m[1]) > 100 {
			continue
		}
		if r := ruleOf(m[1]); r.mode == unless { // {"name": "Security Level", "value": "HR"}
			for _, v := range all {
				if strings.HasPrefix(v[0], "value") {
					s.visit(member{r, m[1]}, "", v[1])
				}
			}
		}
	}
	s.depth--
}

// judge limits the text by a value.
func (s *search) judge(in member, value string) {
	v := strings.ToLower(strings.Trim(strings.ReplaceAll(value[:min(len(value), 100)], "_", " "), " \"'"))
	phrase := plainly.MatchString(fold(v))
	var limits bool
	switch in.mode {
	case unknown:
		limits = phrase && (!s.isTicket || strings.Contains(words(in.name), "classif"))
	case unless, asks:
		limits = !in.value.MatchString(v)
	case asksOnly:
		limits = phrase || in.value.MatchString(v)
	}
	doubt := in.mode > unless || s.isTicket && in.mode == unless && stated.MatchString(fold(in.name))
	if limits && (!s.isPlain || !doubt && (phrase || said.MatchString(v))) {
		s.add(in.name, value, doubt)
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
		text = strings.ToValidUTF8(text[:60], "") + "…"
	}
	return text
}

// lines judges what looks like a record in no known language, by the names and values between its
// line breaks, brackets and commas. A value that is elsewhere limits, and a line of which nothing is
// read but a word of privacy. Prose does not.
func (s *search) lines(block string) {
	var in member
	found, pairs, prose := *s, 0, 0
	for row := range strings.SplitSeq(strings.ReplaceAll(block, `\"`, `"`), "\n") {
		text, before := strings.TrimSpace(row), pairs
		if text == "" || text[0] == '#' && !strings.HasPrefix(text, "#+") {
			continue
		}
		if !strings.Contains(" \t-", row[:1]) {
			in = member{}
		}
		for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("{}[],", r) }) {
			p := pair.FindStringSubmatch(piece)
			if p == nil {
				p = []string{"", "", piece}
			} else {
				in = member{ruleOf(p[1]), p[1]}
				pairs++
			}
			switch value := wrapped.ReplaceAllString(p[2], ""); {
			case in.name == "":
			case s.isHead && calling.MatchString(fold(in.name)) && ruleOf(value).mode == unless && strings.ContainsAny(text, "{-"): // name: Security Level, value: HR
				found.add(value, "", false)
			case value != "":
				found.visit(in, "", value)
			case p[1] != "" && in.mode >= unless && !s.isPlain:
				found.add(in.name, "", in.mode > unless)
			}
		}
		if pairs == before && s.isPlain {
			break
		}
		if mode := ruleOf(text).mode; pairs == before && s.isHead && in.name == "" && (mode == unless || mode == asks) {
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
