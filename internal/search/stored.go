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

// storedValue is a stored value that a spelling in filters means, or resembles. Null: there is
// none.
type storedValue struct {
	Member   string  `json:"member"`
	Spelling string  `json:"spelling"`
	Value    *string `json:"value"`
	Exact    bool    `json:"exact"`
}

// findValues looks names up among the stored values that the caller sees. asked has the form of
// filters. close: names without a stored value give those that resemble them.
func findValues(ctx context.Context, db Database, asked any, close bool) (rows []storedValue, err error) {
	if err := db.Call(ctx, "find_filter_values", map[string]any{"filters": asked, "close": close}, &rows); err != nil {
		return nil, fmt.Errorf("look up the names in filters: %w", err)
	}
	return rows, nil
}

// Stored looks up the spellings that reading a query asks for; close: those without a stored value
// give at most six that resemble them.
func Stored(ctx context.Context, db Database, asked []filter.Spelling, close bool) (filter.Stored, error) {
	members := map[string][]string{}
	for _, one := range asked {
		members[one.Member] = append(members[one.Member], one.Text)
	}
	rows, err := findValues(ctx, db, members, close)
	stored := filter.Stored{}
	for _, row := range rows {
		if row.Value != nil {
			spelling := filter.Spelling{Member: row.Member, Text: row.Spelling}
			stored[spelling] = append(stored[spelling], *row.Value)
		}
	}
	return stored, err
}

// Resembling returns what the names in filters that nothing has resemble, and the keys of projects
// that are named.
func Resembling(ctx context.Context, db Database, filters any) (filter.Stored, error) {
	rows, err := findValues(ctx, db, filters, true)
	similar := filter.Stored{}
	for _, row := range rows {
		spelling := filter.Spelling{Member: row.Member, Text: row.Spelling}
		switch {
		case row.Value == nil:
			similar[spelling] = []string{}
		case !row.Exact || !strings.EqualFold(*row.Value, row.Spelling):
			similar[spelling] = append(similar[spelling], *row.Value)
		}
	}
	return similar, err
}

// KeyPattern matches what looks like a ticket's key.
const KeyPattern = `[\pL\pN_]+(?:-[\pL\pN_]+)*-\d+`

var typedKey = regexp.MustCompile(KeyPattern)

// Annotate adds what an empty or a surprising page needs: the names in its filters that nothing
// has, and the keys in the query that no ticket has. similar are the values that these names
// resemble.
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
	rows, err := findValues(ctx, db, asked, true)
	similar = filter.Stored{}
	for _, row := range rows {
		spelling := filter.Spelling{Member: row.Member, Text: row.Spelling}
		switch {
		case row.Exact && strings.EqualFold(*row.Value, row.Spelling): // and not a project's key by its name
			continue
		case row.Member == "keys":
			p.UnknownKeys = append(p.UnknownKeys, row.Spelling)
			continue
		case similar[spelling] == nil:
			similar[spelling] = []string{}
			p.Candidates = append(p.Candidates, Candidate{Member: row.Member, Value: row.Spelling, Names: []string{}})
		}
		if row.Value != nil {
			similar[spelling] = append(similar[spelling], *row.Value)
			last := &p.Candidates[len(p.Candidates)-1] // rows of a spelling follow each other
			last.Names = append(last.Names, *row.Value)
		}
	}
	return similar, err
}
