package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tasklens/internal/filter"
)

// Candidate is a name in the filters that no stored value has.
type Candidate struct {
	_ struct{} `schema:"Candidate"`

	Member string   `json:"member" example:"assignee"`
	Value  string   `json:"value" example:"gary"`
	Names  []string `json:"names" max:"6" example:"[\"Gary Mathews\", \"Gary Moss\"]" doc:"The stored values that resemble it, the nearest first."`
}

// findValues looks names up among the stored values that the caller sees: exact are those of a
// name, similar those that only resemble it. asked has the form of filters.
func findValues(ctx context.Context, db Database, asked any, close bool) (exact, similar filter.Stored, order []filter.Spelling, err error) {
	var rows []struct {
		Member   string  `json:"member"`
		Spelling string  `json:"spelling"`
		Value    *string `json:"value"`
		Exact    bool    `json:"exact"`
	}
	if err := db.Call(ctx, "find_filter_values", map[string]any{"filters": asked, "close": close}, &rows); err != nil {
		return nil, nil, nil, fmt.Errorf("look up the names in filters: %w", err)
	}
	exact, similar = filter.Stored{}, filter.Stored{}
	for _, row := range rows {
		spelling, found := filter.Spelling{Member: row.Member, Text: row.Spelling}, similar
		if row.Exact {
			found = exact
		}
		if !slices.Contains(order, spelling) {
			order = append(order, spelling)
		}
		values := found[spelling]
		if values == nil {
			values = []string{} // and not null in JSON
		}
		if row.Value != nil {
			values = append(values, *row.Value)
		}
		found[spelling] = values
	}
	return exact, similar, order, nil
}

// Stored looks up the spellings that reading a query asks for.
func Stored(ctx context.Context, db Database, asked []filter.Spelling) (filter.Stored, error) {
	members := map[string][]string{}
	for _, one := range asked {
		members[one.Member] = append(members[one.Member], one.Text)
	}
	exact, _, _, err := findValues(ctx, db, members, false)
	return exact, err
}

// typedKey is what looks like a ticket's key.
var typedKey = regexp.MustCompile(`[\pL\pN_]+(?:-[\pL\pN_]+)*-\d+`)

// Annotate adds what an empty or a surprising page needs: the names in its filters that nothing has,
// and the keys in the query that no ticket has. similar are the values that these names resemble.
func (p *Page) Annotate(ctx context.Context, db Database, q Query) (similar filter.Stored, err error) {
	asked := filter.Filters{}
	if len(p.Hits) == 0 {
		asked = slices.Clone(q.Filters)
	}
	found := map[string]bool{}
	for _, hit := range p.Hits {
		if hit.Exact && hit.TicketKey != nil {
			found[strings.ToUpper(*hit.TicketKey)] = true
		}
	}
	var keys []string
	for _, key := range typedKey.FindAllString(q.Text, 20) {
		if q.Offset == 0 && !found[strings.ToUpper(key)] {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		asked = append(asked, map[string]any{"keys": keys})
	}
	if len(asked) == 0 {
		return nil, nil
	}
	_, similar, order, err := findValues(ctx, db, asked, true)
	for _, one := range order {
		names, is := similar[one]
		switch {
		case !is:
		case one.Member == "keys":
			p.UnknownKeys = append(p.UnknownKeys, one.Text)
		default:
			p.Candidates = append(p.Candidates, Candidate{Member: one.Member, Value: one.Text, Names: names})
		}
	}
	return similar, err
}
