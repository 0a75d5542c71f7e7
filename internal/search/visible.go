package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
)

// mayHide matches a text of which a reader may see less than it holds: markup, definitions, data.
// Most drafts have none of that, which saves a call.
var mayHide = regexp.MustCompile(`<|\]:|-----BEGIN |[!-~]{40}`)

// mostSeen is the most bytes of drafts of one call: visible_texts takes as many characters.
const mostSeen = 200_000

// visible returns what readers see of drafts, in their order: as the database sees stored tickets.
func visible(ctx context.Context, db Database, drafts []string) (seen []string, err error) {
	if !slices.ContainsFunc(drafts, mayHide.MatchString) {
		return drafts, nil
	}
	for start, end := 0, 0; start < len(drafts); start = end {
		for size := 0; end < len(drafts) && (end == start || size+len(drafts[end]) <= mostSeen); end++ {
			size += len(drafts[end])
		}
		var part []string
		err := db.Call(ctx, "visible_texts", map[string]any{"texts": drafts[start:end]}, &part)
		if err == nil && len(part) != end-start {
			err = fmt.Errorf("%d texts for %d drafts", len(part), end-start)
		}
		if err != nil {
			return nil, fmt.Errorf("read what drafts show: %w", err)
		}
		seen = append(seen, part...)
	}
	return seen, nil
}
