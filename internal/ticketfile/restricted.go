package ticketfile

import (
	"errors"
	"fmt"
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
	"internal", "isinternal", "private", "isprivate", "confidential", "isconfidential", "minimized", "isminimized"}

// everybody are the values of these that restrict nothing.
var everybody = []string{"", "false", "0", "no", "none", "null", "all", "everybody", "everyone", "anyone", "public", "open", "external"}

// restricted says that not everybody may see a comment or a ticket, and who may; it is empty if
// all may.
func (r *Reader) restricted(object gjson.Result) (who string) {
	object.ForEach(func(name, value gjson.Result) bool {
		member, text := fold(name.String()), oneLine(strings.Join(r.valuesOf(value), ", "))
		switch is := fold(text); {
		case member == "properties":
			if value.Get(`#(key=="sd.public.comment").value.internal`).Bool() || value.Get(`sd\.public\.comment.internal`).Bool() {
				who = "that are internal"
			}
		case strings.HasSuffix(member, "public"): // jsdPublic
			if is == "false" || is == "0" || is == "no" {
				who = "that are internal"
			}
		case !slices.Contains(audience, member) || slices.Contains(everybody, is):
		case strings.HasSuffix(member, "minimized"):
			who = "that are minimized"
		case is == "true" || is == "1" || is == "yes" || is == member:
			who = "that are internal"
		default:
			who = "that only " + strings.Trim(quote(text), `"`) + " may see"
		}
		return true
	})
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
