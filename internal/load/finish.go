package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/fault"
	"tasklens/internal/rpc"
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

// unlisted is what the database has of this origin and the rows do not list.
type unlisted struct {
	Stored int `json:"stored"`
	Listed int `json:"listed"` // tickets
	Gone
	Examples []string `json:"examples"`
}

// compare counts what is not listed, or deletes so much of it and counts that.
func (l *loader) compare(ctx context.Context, most int) (unlisted, error) {
	function, arguments := "prune_import", map[string]any{"import_id": l.id, "match_count": most}
	if l.id == 0 {
		listed := []string{}
		for _, path := range l.sum.Given.Paths {
			listed = append(listed, IDOfPath(l.sum.Given.Origin, path))
		}
		function, arguments = "prune_documents", map[string]any{"origin": l.sum.Given.Origin, "listed": listed, "match_count": most}
	}
	found, err := rpc.One[unlisted](ctx, l.db, function, arguments)
	if err != nil {
		err = fmt.Errorf("find what the rows do not list: %w", err)
	}
	return found, err
}

// prune finds what the rows do not list, and deletes it if that was asked for: much at once only if
// that was, too. Of rows that are not a whole export nobody knows what they list.
func (l *loader) prune(ctx context.Context) error {
	given, sum := l.sum.Given, &l.sum
	why := "rows of the files were left out, refused or not written, or they hold a ticket twice, or none"
	switch isNotes := l.id == 0 && len(given.Paths) > 0; {
	case given.Format == "":
		why = "nothing says that the rows are a whole export, as the manifest.json of scripts/convert does"
	case given.Incomplete != "":
		why = "the files are incomplete: " + given.Incomplete
	case given.Whole && (isNotes || l.id != 0 && sum.BadRows+sum.Refused+sum.Unwritten == 0): // a document that could not be read is there
		found, err := l.compare(ctx, 0)
		if err != nil {
			return err
		}
		if !isNotes && (found.Listed != sum.Written["tickets"] || found.Listed == 0) {
			break
		}
		why, sum.Stored, sum.Unlisted = "", found.Stored, found.Gone
		for _, example := range found.Examples {
			l.report.Trouble("not in the files", errors.New(example))
		}
		if sum.Many() && !l.options.PruneMany {
			why = fmt.Sprintf("the files lack %d of the %d tickets or documents of this origin, more than a fifth, as a part of an export does",
				sum.Unlisted.Tickets+sum.Unlisted.Documents, sum.Stored)
		}
	}
	switch {
	case !l.options.Prune:
		return nil
	case why != "":
		return fmt.Errorf("%w: %s", ErrNotPruned, why)
	}
	for removed := sum.Unlisted; removed != (Gone{}); {
		if err := inParts(batchPrune, func(size int) error {
			found, err := l.compare(ctx, size)
			removed = found.Gone
			return err
		}); err != nil {
			return fmt.Errorf("delete removed rows: %w", err)
		}
		all := &sum.Removed
		*all = Gone{all.Tickets + removed.Tickets, all.Comments + removed.Comments, all.Links + removed.Links, all.Documents + removed.Documents}
	}
	return nil
}

// Many reports whether the rows lack more than a fifth of the origin's tickets or documents.
func (s Summary) Many() bool { return (s.Unlisted.Tickets+s.Unlisted.Documents)*5 > s.Stored }
