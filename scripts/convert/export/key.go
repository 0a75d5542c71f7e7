package export

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A query can name a ticket by letters, digits and underscores, in parts between hyphens, of which
// the last is a number: as the SQL function parse_query reads it.
var (
	named    = regexp.MustCompile(`^[\pL\pN_]+(?:-[\pL\pN_]+)*-[0-9]+$`)
	nameless = regexp.MustCompile(`[^\pL\pN_]+`)
)

// nameable makes what no key in a query has a hyphen: next.js becomes next-js.
func nameable(key string) string { return strings.Trim(nameless.ReplaceAllString(key, "-"), "-") }

// nameKeys gives a ticket and its project keys that queries can name. A number gets the project's
// key before it; a key that stays without one, or too long, becomes a number made from it, which no
// import changes, and stands at the end of the description, where queries find it.
func (r *reader) nameKeys(t *Ticket, names columns) error {
	project := t.ProjectKey
	if err := r.nameProject(&t.ProjectKey, t.source); err != nil {
		return err
	}
	name := func(written string) (key string, isMade bool) {
		if key = nameable(written); key != "" && strings.Trim(key, "0123456789") == "" {
			key = t.ProjectKey + "-" + key
		}
		if isMade = !named.MatchString(key) || utf8.RuneCountInString(key) > MaxKey; isMade {
			key = fmt.Sprint(t.ProjectKey, "-", fnv1a(written)%madeNumbers+madeNumbers)
		}
		return key, isMade
	}
	var isMade bool
	t.Written = t.Key
	switch t.Key, isMade = name(t.Key); {
	case isMade:
		t.kept = append(t.kept, line{Name: names.of("key") + ": " + t.Written})
		r.notices["keys without a number at their end, which queries cannot name, became a number and the last line of the description"]++
	case t.Key != t.Written:
		r.notices["keys changed so that queries can name them, such as "+strings.TrimRight(t.Written, "0123456789")+"N to "+strings.TrimRight(t.Key, "0123456789")+"N"]++
	case t.ProjectKey != project:
		r.notices[fmt.Sprintf("keys of projects changed so that queries can name them, such as %s to %s", project, t.ProjectKey)]++
	}
	for i := range t.Links {
		if key := strings.TrimSpace(clean(t.Links[i].Key)); key != "" {
			t.Links[i].Key, _ = name(key)
		}
	}
	return nil
}

// madeNumbers is how many numbers are made of keys, and the first: all have 13 digits, more than
// those of trackers. Of two keys with one number the second is refused, as any repeated key.
const madeNumbers = 1_000_000_000_000

func fnv1a(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// nameProject gives a project such a key, unless that is the key of another one. source is what the
// key stands for; the key itself if that is empty.
func (r *reader) nameProject(key *string, source string) error {
	source = cmp.Or(source, *key)
	*key = nameable(*key)
	other := cmp.Or(r.sources[strings.ToUpper(*key)], source)
	if utf8.RuneCountInString(*key) > MaxKey {
		return fmt.Errorf("the project key %s is longer than %d characters", quote(*key), MaxKey)
	}
	if *key == "" || other != source {
		return fmt.Errorf("%s and %s would have the same project key %s: import each from a file of its own, with a prefix", other, source, *key)
	}
	r.sources[strings.ToUpper(*key)] = source
	return nil
}
