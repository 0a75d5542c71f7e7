package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tasklens/internal/filter"
	"tasklens/internal/rpc"
)

// storedValue is a stored value that a spelling in filters means, or resembles. Null: there is
// none.
type storedValue struct {
	Member   string  `json:"member"`
	Spelling string  `json:"spelling"`
	Value    *string `json:"value"`
	Exact    bool    `json:"exact"`
}

// Resembling returns the names in filters that nothing has, each with what resembles it, and what
// is a value by another name: a project's key.
func Resembling(ctx context.Context, db rpc.Caller, filters any) (names []filter.Candidate, err error) {
	var rows []storedValue
	if err := db.Call(ctx, "find_filter_values", map[string]any{"filters": filters}, &rows); err != nil {
		return nil, fmt.Errorf("look up the names in filters: %w", err)
	}
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
	return names, nil
}

// KeyPattern matches what looks like a ticket's key.
const KeyPattern = `[\pL\pN_]+(?:-[\pL\pN_]+)*-\d+`

var typedKey = regexp.MustCompile(KeyPattern)

// noted matches a minus before a word, and signs alone: what a query may leave out or search in
// vain.
var noted = regexp.MustCompile(`(^|\s)(-\S|[^\pL\pN\s]+(\s|$))`)

var typedWord, markedWord = regexp.MustCompile(`[\pL\pN]{4,40}`), regexp.MustCompile(`<mark>([^<]*)</mark>`)

// misses reports whether some word, as typed, is in no hit: it may have been corrected.
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

// explain adds what an empty or a surprising page needs: what the query leaves out or cannot use,
// the keys in it that no ticket has, and the names in the filters that nothing has.
func (p *Page) explain(ctx context.Context, db rpc.Caller, q Query) error {
	found := map[string]bool{}
	for _, hit := range p.Hits {
		if hit.Exact && hit.TicketKey != nil {
			found[strings.ToUpper(*hit.TicketKey)] = true
		}
	}
	isMissing := func(key string) bool { return !found[strings.ToUpper(key)] }
	misses := q.Offset == 0 && slices.ContainsFunc(typedKey.FindAllString(q.Text, 20), isMissing)
	if len(p.Hits) > 0 && !misses && !noted.MatchString(q.Text) && !p.misses(q.Text) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Budget(ctx, embedBudget, embedPart))
	defer cancel()
	told, err := rpc.One[struct {
		Excluded, Ignored, Languages []string
		Corrected                    []Correction
		Keys                         []string `json:"unknown_keys"`
		Candidates                   []filter.Candidate
	}](ctx, db, "explain_query", map[string]any{"query_text": q.Text, "filters": q.Filters})
	if err != nil {
		return err
	}
	p.Excluded, p.Ignored, p.Corrected = told.Excluded, told.Ignored, told.Corrected
	for _, correction := range p.Corrected {
		for i, stem := range correction.To {
			correction.To[i] = p.spelling(stem)
		}
	}
	p.readIn(told.Languages)
	if q.Offset == 0 {
		p.UnknownKeys = told.Keys
	}
	if len(p.Hits) == 0 && q.Offset == 0 {
		p.Candidates = told.Candidates
	}
	return nil
}
