package search

import (
	"context"
	"fmt"
	"regexp"
)

// mayHide matches a text of which a reader may see less than it holds: markup, definitions, data.
// Most drafts have none of that, which saves a call.
var mayHide = regexp.MustCompile(`<|\]:|-----BEGIN |[!-~]{40}`)

// visible returns what readers see of a draft: as the database sees stored tickets.
func visible(ctx context.Context, db Database, draft string) (string, error) {
	if !mayHide.MatchString(draft) {
		return draft, nil
	}
	var seen []string
	err := db.Call(ctx, "visible_texts", map[string]any{"texts": []string{draft}}, &seen)
	if err == nil && len(seen) != 1 {
		err = fmt.Errorf("%d texts for one draft", len(seen))
	}
	if err != nil {
		return "", fmt.Errorf("read what a draft shows: %w", err)
	}
	return seen[0], nil
}
