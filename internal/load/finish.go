package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/fault"
)

// ErrNotPruned is returned when nothing was pruned.
var ErrNotPruned = errors.New("nothing is removed")

// Gone counts what the database has and the files do not.
type Gone struct {
	Tickets  int `json:"tickets"`
	Comments int `json:"comments"`
	Links    int `json:"ticket_links"`

	Documents int `json:"documents"`
}

const (
	batchLinks = 100 // tickets whose links are written per transaction
	batchPrune = 100 // rows deleted per transaction
)

// link writes the links between the tickets, now that all are there.
func (l *loader) link(ctx context.Context) error {
	for after := int64(0); ; {
		var page []struct {
			Last     *int64   `json:"last_ticket_id"`
			Links    int      `json:"links"`
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
		l.sum.Links += page[0].Links
		l.sum.Unknown += page[0].Unknown
		for _, link := range page[0].Examples {
			l.report.Trouble(LeftOut, errors.New("link "+link))
		}
	}
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

// prune finds what the files do not list, and deletes it if that was asked for. Of files that were
// not imported completely nobody knows what they list.
func (l *loader) prune(ctx context.Context) error {
	incomplete := fmt.Errorf("%w: rows of the files were left out, refused or not written, or they hold a ticket twice, or none", ErrNotPruned)
	if l.sum.Incomplete != "" {
		incomplete = fmt.Errorf("%w: the files are incomplete: %s", ErrNotPruned, l.sum.Incomplete)
	}
	complete := l.rows > 0 && l.sum.Incomplete == "" && l.sum.BadRows+l.sum.RefusedProjects+l.sum.RefusedTickets+l.sum.Unwritten == 0
	var found []struct {
		Stored   int      `json:"all_tickets"`
		Listed   int      `json:"listed_tickets"`
		Examples []string `json:"examples"`
		Gone
	}
	if complete {
		if err := l.db.Call(ctx, "count_unlisted", map[string]any{"import_id": l.id}, &found); err != nil {
			return fmt.Errorf("count removed rows: %w", err)
		}
	}
	if len(found) == 0 || found[0].Listed != l.rows {
		if l.options.Prune {
			return incomplete
		}
		return nil
	}
	l.sum.Stored, l.sum.Unlisted = found[0].Stored, found[0].Gone
	return l.dropUnlisted(l.options, "tickets", found[0].Examples, func(size int) (Gone, error) {
		removed := make([]Gone, 1)
		err := l.db.Call(ctx, "prune_import", map[string]any{"import_id": l.id, "match_count": size}, &removed)
		return removed[0], err
	})
}

// dropUnlisted reports what the files do not list, and deletes it if that was asked for; much at
// once only if that was, too.
func (w *writer) dropUnlisted(options Options, what string, examples []string, remove func(size int) (Gone, error)) error {
	for _, example := range examples {
		w.report.Trouble(Unlisted, errors.New(example))
	}
	switch {
	case !options.Prune:
		return nil
	case w.sum.Many() && !options.PruneMany:
		return fmt.Errorf("%w: the files lack %d of the %d %s of this origin, more than a fifth, as a part of an export does",
			ErrNotPruned, w.sum.Unlisted.Tickets+w.sum.Unlisted.Documents, w.sum.Stored, what)
	}
	for removed := w.sum.Unlisted; removed != (Gone{}); {
		err := inParts(batchPrune, func(size int) (err error) {
			removed, err = remove(size)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete removed rows: %w", err)
		}
		all := &w.sum.Removed
		*all = Gone{all.Tickets + removed.Tickets, all.Comments + removed.Comments, all.Links + removed.Links, all.Documents + removed.Documents}
	}
	return nil
}

// Many reports whether the files lack more than a fifth of the origin's tickets or documents.
func (s Summary) Many() bool { return (s.Unlisted.Tickets+s.Unlisted.Documents)*5 > s.Stored }
