package search

import (
	"context"
	"fmt"
	"regexp"
)

// mayHide matches a text of which a reader may see less than it holds: markup, definitions, data.
// Most drafts have none of that, which saves a call.
var mayHide = regexp.MustCompile(`<|\]:|-----BEGIN |[!-~]{40}`)

// visible returns what readers see of drafts, in their order: as the database sees stored tickets.
func visible(ctx context.Context, db Database, drafts []string) ([]string, error) {
	for _, draft := range drafts {
		if mayHide.MatchString(draft) {
			var seen []string
			err := db.Call(ctx, "visible_texts", map[string]any{"texts": drafts}, &seen)
			if err == nil && len(seen) != len(drafts) {
				err = fmt.Errorf("%d texts for %d drafts", len(seen), len(drafts))
			}
			if err != nil {
				return nil, fmt.Errorf("read what drafts show: %w", err)
			}
			return seen, nil
		}
	}
	return drafts, nil
}
