package search

import (
	"context"
	"fmt"
	"strings"

	"tasklens/internal/filter"
)

// comparedAtOnce bounds one database call: well within the statement timeout.
const comparedAtOnce = 5

// Compared is one ticket (by key) or draft (by text) to compare.
type Compared struct {
	TicketKey *string `json:"ticket_key" length:"255"`
	Text      *string `json:"text" length:"100000"` // if there is no key
	ProjectID *int64  `json:"project_id" min:"1"`   // narrows what a text is compared with
}

// Outcome is the result of one comparison, or its error.
type Outcome struct {
	Results []Similar `json:"results,omitzero" max:"100"`
	Err     error     `json:"-"`
}

// ToMany compares several tickets and drafts, each as ToTicket or ToText does, with one database
// call for every comparedAtOnce of either kind and one call of the model for all that must be
// embedded. An item that fails, such as an unknown key, does not stop the others. The error is the
// database's.
func (c *Comparer) ToMany(ctx context.Context, db Database, model string, all []Compared, filters filter.Filters, limit int) ([]Outcome, error) {
	outcomes := make([]Outcome, len(all))
	keys := []string{}
	texts := []string{}
	var drafts []draft
	var keyed, typed, drafted []int // positions among all items
	for i, one := range all {
		if one.TicketKey != nil {
			keys, keyed = append(keys, *one.TicketKey), append(keyed, i)
			outcomes[i].Err = errNoTicket()
			continue
		}
		texts, typed = append(texts, *one.Text), append(typed, i)
		outcomes[i] = Outcome{Results: []Similar{}}
	}
	texts, err := visible(ctx, db, texts)
	if err != nil {
		return nil, err
	}
	for k, i := range typed {
		if strings.TrimSpace(texts[k]) != "" {
			drafts, drafted = append(drafts, c.ofText(texts[k], all[i].ProjectID)), append(drafted, i)
		}
	}
	// Without keys too, so that the database checks the filters if no draft is compared.
	for start := 0; start < len(keys) || start == 0 && len(drafts) == 0; start += comparedAtOnce {
		var rows []stored
		part := keys[start:min(start+comparedAtOnce, len(keys))]
		arguments := narrow(map[string]any{"ticket_keys": part, "embedding_model": model, "match_count": limit}, filters)
		if err := db.Call(ctx, "find_similar_tickets_batch", arguments, &rows); err != nil {
			return nil, fmt.Errorf("find tickets like tickets: %w", err)
		}
		for _, row := range rows {
			i := keyed[start+row.Place-1]
			switch {
			case row.Embedded:
				outcomes[i] = Outcome{Results: row.Results}
			case row.Text == nil:
				outcomes[i] = Outcome{Results: []Similar{}}
			default:
				drafts, drafted = append(drafts, c.ofStored(row)), append(drafted, i)
			}
		}
	}
	if len(drafts) == 0 {
		return outcomes, nil
	}
	if err := c.embed(ctx, model, drafts); err != nil {
		for _, i := range drafted {
			outcomes[i].Err = err
		}
		if ctx.Err() == nil {
			err = nil // the others have outcomes
		}
		return outcomes, err
	}
	for start := 0; start < len(drafts); start += comparedAtOnce {
		var rows []struct {
			Place   int       `json:"place"`
			Results []Similar `json:"results"`
		}
		part := drafts[start:min(start+comparedAtOnce, len(drafts))]
		arguments := narrow(map[string]any{"drafts": part, "embedding_model": model, "match_count": limit}, filters)
		if err := db.Call(ctx, "similar_tickets_batch", arguments, &rows); err != nil {
			return nil, fmt.Errorf("find tickets like texts: %w", err)
		}
		for _, row := range rows {
			outcomes[drafted[start+row.Place-1]] = Outcome{Results: row.Results}
		}
	}
	return outcomes, nil
}
