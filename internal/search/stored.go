package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tasklens/internal/filter"
)

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

// Resembling returns the names in filters that nothing has, each with what resembles it, and what
// is a value by another name: a project's key.
func Resembling(ctx context.Context, db Database, filters any) (names []filter.Candidate, err error) {
	rows, err := findValues(ctx, db, filters, true)
	for _, row := range rows {
		if row.Exact && strings.EqualFold(*row.Value, row.Spelling) {
			continue
		}
		last := len(names) - 1 // rows of a spelling follow each other
		if last < 0 || names[last].Member != row.Member || names[last].Value != row.Spelling {
			names = append(names, filter.Candidate{Member: row.Member, Value: row.Spelling, Names: []string{}})
			last++
		}
		if row.Value != nil {
			names[last].Names = append(names[last].Names, *row.Value)
		}
	}
	return names, err
}

// KeyPattern matches what looks like a ticket's key.
const KeyPattern = `[\pL\pN_]+(?:-[\pL\pN_]+)*-\d+`

var typedKey = regexp.MustCompile(KeyPattern)

// noted matches a minus before a word, and signs alone: what a query may leave out or search in
// vain.
var noted = regexp.MustCompile(`(^|\s)(-\S|[^\pL\pN\s]+(\s|$))`)

var typedWord, markedWord = regexp.MustCompile(`[\pL\pN]{4,40}`), regexp.MustCompile(`<mark>([^<]*)</mark>`)

// misses reports whether no hit has a word as typed: it may have been corrected.
func (p *Page) misses(query string) bool {
	var texts strings.Builder
	for _, hit := range p.Hits {
		texts.WriteString(strings.ToLower(hit.ProjectName + " " + hit.Text + " " + markedWord.ReplaceAllString(hit.Highlight, "$1")))
	}
	return slices.ContainsFunc(typedWord.FindAllString(strings.ToLower(query), -1), func(word string) bool { return !strings.Contains(texts.String(), word) })
}

// spelling is a word with this stem that a hit marks, or the stem.
func (p *Page) spelling(stem string) string {
	for _, hit := range p.Hits {
		for _, marked := range markedWord.FindAllStringSubmatch(hit.Highlight, -1) {
			if strings.HasPrefix(strings.ToLower(marked[1]), stem) {
				return marked[1]
			}
		}
	}
	return stem
}

// Annotate adds what an empty or a surprising page needs: what the query leaves out or cannot use,
// the names in its filters that nothing has, and the keys in the query that no ticket has.
func (p *Page) Annotate(ctx context.Context, db Database, q Query) error {
	if q.Text != "" && (len(p.Hits) == 0 || noted.MatchString(q.Text) || p.misses(q.Text)) {
		var read []struct {
			Excluded, Ignored, Languages []string
			Corrected                    []Correction
		}
		if err := db.Call(ctx, "read_query", narrow(map[string]any{"query_text": q.Text}, q.Filters), &read); err != nil {
			return fmt.Errorf("read the query: %w", err)
		}
		for _, r := range read {
			p.Excluded, p.Ignored, p.Corrected = r.Excluded, r.Ignored, r.Corrected
			for _, correction := range p.Corrected {
				for i, stem := range correction.To {
					correction.To[i] = p.spelling(stem)
				}
			}
			p.readIn(r.Languages)
		}
	}
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
		return nil
	}
	names, err := Resembling(ctx, db, asked)
	for _, name := range names {
		if name.Member == "keys" {
			p.UnknownKeys = append(p.UnknownKeys, name.Value)
		} else {
			p.Candidates = append(p.Candidates, name)
		}
	}
	return err
}
