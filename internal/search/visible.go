package search

import (
	"context"
	"regexp"

	"tasklens/internal/rpc"
)

// mayHide matches a text of which a reader may see less than it holds: markup, definitions, data.
// Most drafts have none of that, which saves a call.
var mayHide = regexp.MustCompile(`<|\]:|-----BEGIN |[!-~]{40}`)

// visible returns what readers see of a draft: as the database sees stored tickets.
func visible(ctx context.Context, db rpc.Caller, draft string) (string, error) {
	if !mayHide.MatchString(draft) {
		return draft, nil
	}
	return rpc.One[string](ctx, db, "visible_texts", map[string]any{"texts": []string{draft}})
}
