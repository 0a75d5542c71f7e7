package ticketfile

import (
	"fmt"
	"maps"
	"slices"
)

// notices count remarks about the whole file, collected while its tickets are read. A remark that
// is counted once is not about rows.
type notices map[string]int

func (n notices) list() (all []string) {
	for _, remark := range slices.Sorted(maps.Keys(n)) {
		if count := n[remark]; count > 0 {
			remark += fmt.Sprintf(": %d", count)
		}
		all = append(all, remark)
	}
	return all
}
