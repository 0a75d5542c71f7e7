package ticketfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

type rawComment struct {
	key, author, body, created, updated string
}

// checkComments adds the comments to t. Its error counts the skipped ones, once per row.
func checkComments(t *Ticket, raw []rawComment, names fieldNames, _ place) error {
	if raw == nil {
		return nil
	}
	t.Comments = []Comment{}
	empty, undated, unnamed := 0, 0, 0
	order := map[string]int{} // numbers comments with the same author and time
	keys := map[string]bool{}
	for _, c := range raw {
		created, err := parseDate(c.created)
		if err != nil {
			undated++
		}
		updated, err := parseDate(c.updated)
		if err != nil {
			undated++
		}
		comment := Comment{Author: oneLine(c.author), Body: strings.TrimSpace(clean(c.body)), CreatedAt: created, UpdatedAt: updated}
		if comment.Key, err = checkKey(names.comments, c.key); err != nil {
			if strings.TrimSpace(c.key) != "" {
				unnamed++
			}
			comment.Key = madeKey(c.created, created, comment.Author, order)
		}
		if comment.Body == "" {
			empty++
			continue
		}
		if utf8.RuneCountInString(comment.Author) > maxValue {
			comment.Author = ""
			unnamed++
		}
		if keys[comment.Key] {
			unnamed++
			continue
		}
		keys[comment.Key] = true
		t.Comments = append(t.Comments, comment)
	}
	var wrong []string
	for _, w := range []struct {
		what  string
		count int
	}{{"without text, left out", empty}, {"with a time left out because it is not a clear date", undated}, {"with an author or key that is doubled, too long or has spaces", unnamed}} {
		if w.count > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", w.count, w.what))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s", names.comments, strings.Join(wrong, "; "))
	}
	return nil
}

// madeKey names a comment that has no id. It does not depend on the text, so that an edited comment
// keeps its key.
func madeKey(written string, at time.Time, author string, order map[string]int) string {
	when := strings.TrimSpace(written)
	if !at.IsZero() {
		when = at.Format(time.RFC3339Nano)
	}
	by := when + "\x00" + author
	order[by]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", by, order[by]))
	return "made-" + hex.EncodeToString(sum[:12])
}
