package ticketfile

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
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
// key before it.
func (r *Reader) nameKeys(t *Ticket, names columns) error {
	if err := r.nameProject(&t.ProjectKey, t.source); err != nil {
		return err
	}
	number := func(key string) string {
		if key = nameable(key); key != "" && strings.Trim(key, "0123456789") == "" {
			return t.ProjectKey + "-" + key
		}
		return key
	}
	t.Written = t.Key
	if t.Key = number(t.Key); !named.MatchString(t.Key) {
		return fmt.Errorf("%s %s cannot be named in a query: a key ends in a hyphen and a number, as TX-400", names.of("key"), quote(t.Written))
	}
	if t.Key != t.Written {
		r.notices["keys changed so that queries can name them, such as "+strings.TrimRight(t.Written, "0123456789")+"N to "+strings.TrimRight(t.Key, "0123456789")+"N"]++
	}
	for i := range t.Links {
		t.Links[i].Key = number(t.Links[i].Key)
	}
	return nil
}

// nameProject gives a project such a key, unless that is the key of another one. source is what the
// key stands for; the key itself if that is empty.
func (r *Reader) nameProject(key *string, source string) error {
	source = cmp.Or(source, *key)
	*key = nameable(*key)
	other := cmp.Or(r.sources[strings.ToUpper(*key)], source)
	if *key == "" || other != source {
		return fmt.Errorf("%s and %s would have the same project key %s: import each from a file of its own, with a prefix", other, source, *key)
	}
	r.sources[strings.ToUpper(*key)] = source
	return nil
}
