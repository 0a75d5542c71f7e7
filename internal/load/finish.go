package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/bulk"
	"tasklens/internal/ticketfile"
)

// ErrNotPruned is returned when nothing was pruned because the import skipped or could not write
// something.
var ErrNotPruned = errors.New("nothing is removed: rows of the files were left out or not written, or they hold a ticket twice, or none")

// Gone counts what the database has and the files do not.
type Gone struct{ Tickets, Comments, Links int }

const (
	batchKeys  = 1000 // tickets of the database compared per call
	batchPrune = 100  // rows deleted per transaction
)

// finish reads the files once more, now that all tickets are there: it writes the links between
// them, and finds what the database has and the files do not.
func (l *loader) finish(ctx context.Context, rows Rows, projects map[string]int64, prune bool) error {
	if prune && (l.badRows > 0 || l.listed.twice || l.bulk.Counts().Unwritten > 0 || len(l.listed.tickets) == 0) {
		return ErrNotPruned
	}
	if l.listed.details {
		if err := l.details(ctx, rows, projects, prune); err != nil {
			return err
		}
	}
	return l.goneTickets(ctx, projects, prune)
}

type unlistedRow struct {
	Key      string   `json:"key"`
	Comments []string `json:"comments"` // null if the file has no comments
	Links    bool     `json:"links"`
}

func (l *loader) details(ctx context.Context, rows Rows, projects map[string]int64, prune bool) error {
	var links []Link
	var tickets []unlistedRow
	size := 0
	flush := func() error {
		if err := l.writeLinks(ctx, links); err != nil {
			return err
		}
		err := l.goneDetails(ctx, tickets, prune)
		links, tickets, size = nil, nil, 0
		return err
	}
	for ticket, err := range rows.Tickets() {
		if row := (*ticketfile.RowError)(nil); errors.As(err, &row) {
			continue // reported before
		} else if err != nil {
			return err
		}
		if _, known := projects[ticket.ProjectKey]; !known || ticket.Comments == nil && ticket.Links == nil {
			continue
		}
		row := unlistedRow{Key: ticket.Key, Links: ticket.Links != nil}
		if ticket.Comments != nil {
			row.Comments = []string{}
			for _, c := range ticket.Comments {
				row.Comments = append(row.Comments, c.Key)
			}
		}
		tickets, links = append(tickets, row), append(links, linksOf(ticket)...)
		if size += 1 + len(row.Comments)/100; size >= batchTickets || len(links) >= batchKeys {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (l *loader) writeLinks(ctx context.Context, links []Link) error {
	return bulk.Write(ctx, l.bulk, links, func(link Link) string { return "link of " + link.Key + " to " + link.Other }, func(part []Link) error {
		var unknown []Link
		if err := l.db.Call(ctx, "upsert_ticket_links", map[string]any{"links": part}, &unknown); err != nil {
			return fmt.Errorf("write links: %w", err)
		}
		l.unknown += len(unknown)
		for _, link := range unknown {
			l.report.Unknown(link)
		}
		return nil
	})
}

// goneDetails finds the comments and links of these tickets that are not in the files.
func (l *loader) goneDetails(ctx context.Context, tickets []unlistedRow, prune bool) error {
	if len(tickets) == 0 {
		return nil
	}
	var found []struct {
		TicketKey  string `json:"ticket_key"`
		CommentID  *int64 `json:"comment_id"`
		CommentKey string `json:"comment_key"`
		Kind       string `json:"kind"`
		OtherKey   string `json:"other_key"`
	}
	if err := l.db.Call(ctx, "find_unlisted", map[string]any{"tickets": tickets}, &found); err != nil {
		return fmt.Errorf("find removed rows: %w", err)
	}
	var comments []int64
	var links []Link
	for _, f := range found {
		if f.CommentID != nil {
			comments = append(comments, *f.CommentID)
			l.report.Unlisted("comment " + f.CommentKey + " of " + f.TicketKey)
			continue
		}
		link := Link{f.TicketKey, f.Kind, f.OtherKey}
		if _, held := l.listed.links[link.digest()]; !held {
			links = append(links, link)
			l.report.Unlisted(fmt.Sprintf("link: %s %s %s", link.Key, link.Kind, link.Other))
		}
	}
	l.unlisted.Comments += len(comments)
	l.unlisted.Links += len(links)
	for prune && len(comments)+len(links) > 0 {
		c, k := min(len(comments), batchPrune), min(len(links), batchPrune)
		if err := l.prune(ctx, nil, comments[:c], links[:k]); err != nil {
			return err
		}
		comments, links = comments[c:], links[k:]
	}
	return nil
}

// goneTickets finds the tickets that are not in the files, in projects with tickets in the files.
func (l *loader) goneTickets(ctx context.Context, projects map[string]int64, prune bool) error {
	ids := []int64{}
	for key, id := range projects {
		if l.listed.projects[key] {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	for after := int64(0); ; {
		var page []struct {
			TicketID int64  `json:"ticket_id"`
			Key      string `json:"key"`
		}
		if err := l.db.Call(ctx, "list_ticket_keys", map[string]any{"project_ids": ids, "after": after, "match_count": batchKeys}, &page); err != nil {
			return fmt.Errorf("find removed tickets: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		after = page[len(page)-1].TicketID
		var gone []int64
		for _, t := range page {
			if _, held := l.listed.tickets[digestOf(t.Key)]; !held {
				gone = append(gone, t.TicketID)
				l.report.Unlisted("ticket " + t.Key)
			}
		}
		l.unlisted.Tickets += len(gone)
		for prune && len(gone) > 0 {
			n := min(len(gone), batchPrune)
			if err := l.prune(ctx, gone[:n], nil, nil); err != nil {
				return err
			}
			gone = gone[n:]
		}
	}
}

func (l *loader) prune(ctx context.Context, tickets, comments []int64, links []Link) error {
	var removed []struct {
		Tickets  int `json:"tickets"`
		Comments int `json:"comments"`
		Links    int `json:"ticket_links"`
	}
	err := l.db.Call(ctx, "prune_tickets", map[string]any{
		"ticket_ids": append([]int64{}, tickets...), "comment_ids": append([]int64{}, comments...), "links": append([]Link{}, links...),
	}, &removed)
	if err != nil {
		return fmt.Errorf("delete removed rows: %w", err)
	}
	for _, r := range removed {
		l.removed.Tickets += r.Tickets
		l.removed.Comments += r.Comments
		l.removed.Links += r.Links
	}
	return nil
}
