package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/fault"
)

// ErrNotPruned is returned when nothing was pruned.
var ErrNotPruned = errors.New("nothing is removed")

// Gone counts what the database has and the rows do not list.
type Gone struct {
	Tickets   int `json:"tickets"`
	Comments  int `json:"comments"`
	Links     int `json:"ticket_links"`
	Documents int `json:"documents"`
}

func (g Gone) String() string {
	return fmt.Sprintf("%d tickets, %d comments, %d links", g.Tickets, g.Comments, g.Links)
}

const (
	batchLinks = 100 // tickets whose links are written per transaction
	batchPrune = 100 // rows deleted per transaction
)

// link writes the links between the tickets, now that all are there.
func (l *loader) link(ctx context.Context) error {
	for after := int64(0); l.id != 0; {
		var page []struct {
			Last     *int64   `json:"last_ticket_id"`
			Unknown  int      `json:"unknown"`
			Examples []string `json:"examples"`
		}
		err := inParts(batchLinks, func(size int) error {
			return l.db.Call(ctx, "link_imported_tickets", map[string]any{"import_id": l.id, "after": after, "match_count": size}, &page)
		})
		if err != nil {
			return fmt.Errorf("write links: %w", err)
		}
		if len(page) == 0 || page[0].Last == nil {
			return nil
		}
		after = *page[0].Last
		l.sum.Unknown += page[0].Unknown
		for _, link := range page[0].Examples {
			l.report.Trouble("left out", errors.New("link "+link))
		}
	}
	return nil
}

// inParts halves the size of a call that took too long.
func inParts(size int, call func(size int) error) error {
	for {
		err := call(size)
		if size /= 2; fault.CodeOf(err) != fault.Timeout || size == 0 {
			return err
		}
	}
}

// prune finds what the rows do not list, and deletes it if that was asked for: much at once only if
// that was, too. Of rows that are not a whole export nobody knows what they list.
func (l *loader) prune(ctx context.Context) error {
	given, sum := l.sum.Given, &l.sum
	err := fmt.Errorf("%w: rows of the files were left out, refused or not written, or they hold a ticket twice, or none", ErrNotPruned)
	switch {
	case given.Format == "":
		err = fmt.Errorf("%w: nothing says that the rows are a whole export, as the manifest.json of scripts/convert does", ErrNotPruned)
	case given.Incomplete != "":
		err = fmt.Errorf("%w: the files are incomplete: %s", ErrNotPruned, given.Incomplete)
	case l.id == 0 && given.Whole && len(given.Paths) > 0: // a document that could not be read is there
		found, failed := l.compareDocuments(ctx, 0)
		sum.Stored, sum.Unlisted.Documents, err = found.Stored, found.Unlisted, failed
		l.tellUnlisted(found.Examples)
	case l.id != 0 && given.Whole && sum.BadRows+sum.Refused+sum.Unwritten == 0:
		found := make([]struct {
			Stored   int      `json:"all_tickets"`
			Listed   int      `json:"listed_tickets"`
			Examples []string `json:"examples"`
			Gone
		}, 1)
		if failed := l.db.Call(ctx, "count_unlisted", map[string]any{"import_id": l.id}, &found); failed != nil {
			return fmt.Errorf("count removed rows: %w", failed)
		}
		if found[0].Listed == sum.Written["tickets"] && found[0].Listed > 0 {
			sum.Stored, sum.Unlisted, err = found[0].Stored, found[0].Gone, nil
			l.tellUnlisted(found[0].Examples)
		}
	}
	switch {
	case errors.Is(err, ErrNotPruned) && !l.options.Prune:
		return nil
	case err != nil || !l.options.Prune:
		return err
	case sum.Many() && !l.options.PruneMany:
		return fmt.Errorf("%w: the files lack %d of the %d tickets or documents of this origin, more than a fifth, as a part of an export does",
			ErrNotPruned, sum.Unlisted.Tickets+sum.Unlisted.Documents, sum.Stored)
	}
	for removed := sum.Unlisted; removed != (Gone{}); {
		err := inParts(batchPrune, func(size int) error {
			if l.id == 0 {
				found, err := l.compareDocuments(ctx, size)
				removed = Gone{Documents: found.Removed}
				return err
			}
			page := make([]Gone, 1)
			err := l.db.Call(ctx, "prune_import", map[string]any{"import_id": l.id, "match_count": size}, &page)
			removed = page[0]
			return err
		})
		if err != nil {
			return fmt.Errorf("delete removed rows: %w", err)
		}
		all := &sum.Removed
		*all = Gone{all.Tickets + removed.Tickets, all.Comments + removed.Comments, all.Links + removed.Links, all.Documents + removed.Documents}
	}
	return nil
}

func (l *loader) tellUnlisted(examples []string) {
	for _, example := range examples {
		l.report.Trouble("not in the files", errors.New(example))
	}
}

// Many reports whether the rows lack more than a fifth of the origin's tickets or documents.
func (s Summary) Many() bool { return (s.Unlisted.Tickets+s.Unlisted.Documents)*5 > s.Stored }
