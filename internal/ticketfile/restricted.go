package ticketfile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// What a Reader does with comments and tickets that not everybody who sees the project may see.
const Keep, Omit = "keep", "omit"

// errLeftOut is returned for a row that is left out on purpose and counted.
var errLeftOut = errors.New("left out")

// audience are the members that name who may see a comment or a ticket, or only that not all may:
// of Jira, its service desk, its database and GitHub, and of trackers like them.
var audience = []string{"visibility", "commentvisibility", "visibleto", "restricted", "restrictedto", "restriction", "issuerestriction", "rolelevel", "grouplevel", "actionlevel",
	"security", "securitylevel", "internal", "isinternal", "private", "isprivate", "privatenote", "privatenotes", "internalnote", "hidden", "ishidden", "viewstate",
	"confidential", "isconfidential", "minimized", "isminimized"}

// openTo are the members that say whether all may see something.
var openTo = []string{"public", "ispublic", "jsdpublic", "isjsdpublic"}

// internalProperty matches the property by which a service desk marks an internal comment, as
// JSON, or as JSON or a Python dictionary within a text, and the key or the value first.
var internalProperty = regexp.MustCompile(`(?i)sd\.public\.comment[^}]*?` + isInternal + `|` + isInternal + `[^}]*\}[^}]*sd\.public\.comment`)

const isInternal = `internal\W{1,40}(?:true|1|yes)\b`

func isProperty(member string) bool {
	return slices.Contains([]string{"properties", "commentproperties", "entityproperties", "sdpubliccomment"}, member)
}

// saysWho reports whether a member, folded, may say who may see something.
func saysWho(member string) bool {
	return slices.Contains(audience, member) || slices.Contains(openTo, member) || isProperty(member)
}

// A comment has few members, so others than these limit it too: by their names or values, or if
// they say that somebody does not see it. Own are those that have any value.
var (
	limits  = regexp.MustCompile(`restrict|internal|private|hidden|confidential|secret$|audience|viewableby|(staff|agents?|team|admins?)only|^(is)?deleted(at|on|by)?$`)
	limited = regexp.MustCompile(`^(internal|private|confidential|restricted|hidden|secret|deleted)(only)?(notes?|comments?|reply|replies)?$|^(work|staff|agents?|team|admins?)(notes?|only)$`)
	own     = []string{"id", "key", "author", "body", "note", "status"}
)

// limited describes what limits a comment or note; "" means nothing.
func (r *Reader) limited(members map[string]gjson.Result) string {
	who := r.restricted(members)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if member := fold(name); who == "" && !saysWho(member) && !slices.Contains(own, member) {
			value := fold(r.valueOf(members[name]))
			if limits.MatchString(member) && !forAll(value) || limited.MatchString(value) || strings.Contains(member, "visible") && slices.Contains([]string{"false", "0", "no"}, value) {
				who = "limited by " + strings.Trim(quote(name), `"`)
			}
		}
	}
	return who
}

// forAll reports whether such a value restricts nothing.
func forAll(value string) bool {
	return value == "" || slices.Contains([]string{"false", "0", "no", "none", "null", "all", "everybody", "everyone", "anyone", "public", "jsdpublic"}, fold(value))
}

// restricted describes the restriction in the members of a ticket or comment; "" means none.
func (r *Reader) restricted(members map[string]gjson.Result) (who string) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, value := fold(name), members[name]
		if isProperty(member) && internalProperty.MatchString(name+value.Raw+value.Str) {
			who = "that are internal"
		}
		if isProperty(member) || !saysWho(member) {
			continue
		}
		if value.Type == gjson.String && strings.HasPrefix(strings.TrimSpace(value.Str), "{") && gjson.Valid(value.Str) {
			value = gjson.Parse(value.Str)
		}
		values := r.valuesOf(value)
		if member == "issuerestriction" { // empty for most
			values = nil
			for _, allowed := range value.Get("issuerestrictions").Map() {
				values = append(values, r.valuesOf(allowed)...)
			}
		}
		text := oneLine(strings.Join(values, ", "))
		is, isMinimized := fold(text), strings.HasSuffix(member, "minimized")
		isTrue := slices.Contains([]string{"true", "1", "yes", "y", member}, is)
		switch {
		case slices.Contains(openTo, member):
			if !isTrue && text != "" {
				who = "that are internal"
			}
		case forAll(text) && !value.Get("type").Exists(): // a role may have any name
		case isMinimized:
			who = "that are minimized"
		case isTrue:
			who = "that are internal"
		default:
			who = "that only " + strings.Trim(quote(text), `"`) + " may see"
		}
	}
	return who
}

// omits counts what is restricted, and reports whether it is left out.
func (r *Reader) omits(what, who string) bool {
	if who == "" {
		return false
	}
	done := map[bool]string{true: "imported", false: "left out"}[r.Restricted == Keep]
	r.notices[fmt.Sprintf("%s %s, %s", what, who, done)]++
	return r.Restricted != Keep
}
