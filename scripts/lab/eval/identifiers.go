package eval

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	identifiersOfEach = 10 // of a kind, for both halves together
	fewestHolders     = 2
	mostHolders       = 10 // so that one page shows them all
)

// identifierKinds are what people paste into a search. The tickets that hold one whole are what
// they look for: no judge is needed.
var identifierKinds = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"versions", regexp.MustCompile(`\b\d+(?:\.\d+)+(?:[.-][A-Za-z0-9]+)*\b`)},
	{"constants", regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b`)},
	{"paths of modules", regexp.MustCompile(`\b[A-Za-z]\w*(?:::\w+)+\b`)},
	{"files", regexp.MustCompile(`\b\w+(?:/\w+)+\.[a-z]{1,4}\b`)},
	{"options", regexp.MustCompile(`--[a-z]+(?:-[a-z]+)*\b`)},
	{"names in camel case", regexp.MustCompile(`\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b`)},
	{"addresses", regexp.MustCompile(`\bhttps?://[\w./#?=-]*\w`)},
}

type identifier struct {
	text    string
	holders map[string]bool // keys of tickets
}

// CheckIdentifiers searches for identifiers of the collection and prints, for each kind and half,
// of how many all tickets that hold it whole come first. Both halves are the same in every run:
// choose by the first, and judge by the second.
func CheckIdentifiers(ctx context.Context, service Service, connection *pgx.Conn, to io.Writer) error {
	texts, err := byKey[string](ctx, connection, `concat_ws(e'\n', t.name, t.description)`)
	if err != nil {
		return err
	}
	var right, asked [2]int
	for _, kind := range identifierKinds {
		for _, one := range chooseIdentifiers(kind.pattern, texts) {
			p, err := service.search(ctx, one.text, nil, mostHolders, 0)
			if err != nil {
				return err
			}
			first := 0
			for first < len(p.Results) && one.holders[p.Results[first].item()] {
				first++
			}
			half := 0
			if checking(one.text) {
				half = 1
			}
			asked[half]++
			if first == len(one.holders) {
				right[half]++
				continue
			}
			fmt.Fprintf(to, "half %d, %s: %q: %d of %d come first\n", half+1, kind.name, one.text, first, len(one.holders))
		}
	}
	for half := range 2 {
		fmt.Fprintf(to, "half %d: all tickets that hold it come first: %d of %d identifiers (%s)\n", half+1, right[half], asked[half], share(right[half], asked[half]))
	}
	return nil
}

// chooseIdentifiers takes some that few tickets hold, by a hash of their text.
func chooseIdentifiers(pattern *regexp.Regexp, texts map[string]string) (chosen []identifier) {
	found := map[string]string{} // as somebody wrote it
	for _, text := range texts {
		for _, one := range pattern.FindAllString(text, -1) {
			lower := strings.ToLower(one)
			if written, is := found[lower]; !is || one < written {
				found[lower] = one
			}
		}
	}
	mixed := func(text string) uint32 {
		hash := fnv.New32a()
		hash.Write([]byte(text))
		return hash.Sum32()
	}
	all := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(mixed(a), mixed(b)), cmp.Compare(a, b)) })
	for _, text := range all {
		if len(chosen) == identifiersOfEach {
			break
		}
		if len(text) < 4 {
			continue
		}
		one := identifier{found[text], map[string]bool{}}
		// 8.1 is not 8.1.1.
		whole := regexp.MustCompile(`(?i)(?:^|[^\pL\pN.]|[^\pN]\.)` + regexp.QuoteMeta(text) + `(?:$|[^\pL\pN.]|\.(?:$|\PN))`)
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			if !strings.Contains(strings.ToLower(texts[key]), text) {
				continue
			}
			if whole.MatchString(texts[key]) {
				one.holders[key] = true
			}
		}
		if len(one.holders) >= fewestHolders && len(one.holders) <= mostHolders {
			chosen = append(chosen, one)
		}
	}
	return chosen
}
