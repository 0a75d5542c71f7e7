package export

import (
	"errors"
	"fmt"

	"tasklens/internal/audience"
)

// What Convert does with comments and tickets that not everybody who sees the project may see.
const Keep, Omit = "keep", "omit"

// errLeftOut is returned for a row that is left out on purpose and counted.
var errLeftOut = errors.New("left out")

// omits counts what is limited, and reports whether it is left out.
func (r *reader) omits(what string, limit audience.Limit) bool {
	if limit.Why == "" {
		return false
	}
	if limit.Doubt {
		r.unclear[what+" with "+limit.Why]++
	}
	done := map[bool]string{true: "imported", false: "left out"}[r.options.Restricted == Keep]
	r.notices[fmt.Sprintf("%s that not everybody may read (%s), %s", what, limit.Why, done)]++
	return r.options.Restricted != Keep
}
