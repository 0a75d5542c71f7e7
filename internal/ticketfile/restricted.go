package ticketfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// What a Reader does with comments and tickets that not everybody who sees the project may see.
const Keep, Omit = "keep", "omit"

// errLeftOut is returned for a row that is left out on purpose and counted.
var errLeftOut = errors.New("left out")

// audience are the members that name who may see a comment or a ticket, or only that not all may:
// of Jira, its service desk and GitHub, and of trackers like them.
var audience = []string{"visibility", "visibleto", "restricted", "restrictedto", "restriction", "rolelevel", "grouplevel", "security", "securitylevel",
	"internal", "isinternal", "private", "isprivate", "privatenote", "privatenotes", "internalnote", "hidden", "ishidden", "viewstate", "confidential", "isconfidential", "minimized", "isminimized"}

// saysWho reports whether a member, folded, may say who may see something.
func saysWho(member string) bool {
	return slices.Contains(audience, member) || strings.HasSuffix(member, "public") || member == "properties"
}

// forAll reports whether such a value restricts nothing.
func forAll(value string) bool {
	return value == "" || slices.Contains([]string{"false", "0", "no", "none", "null", "all", "everybody", "everyone", "anyone", "public"}, fold(value))
}

// restricted says that not everybody may see what has these members, and who may; it is empty if
// all may.
func (r *Reader) restricted(members map[string]gjson.Result) (who string) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, value := fold(name), members[name]
		isPublic := strings.HasSuffix(member, "public") // jsdPublic
		if member == "properties" && (value.Get(`#(key=="sd.public.comment").value.internal`).Bool() || value.Get(`sd\.public\.comment.internal`).Bool()) {
			who = "that are internal"
		}
		if member == "properties" || !saysWho(member) {
			continue
		}
		text := oneLine(strings.Join(r.valuesOf(value), ", "))
		is := fold(text)
		switch internal := slices.Contains([]string{"true", "1", "yes", member}, is); {
		case isPublic && (is == "false" || is == "0" || is == "no"), !isPublic && internal && !strings.HasSuffix(member, "minimized"):
			who = "that are internal"
		case isPublic || forAll(text) && !value.Get("type").Exists(): // a role may have any name
		case strings.HasSuffix(member, "minimized"):
			who = "that are minimized"
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
