package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tasklens/internal/ticketfile"
)

// Lacking counts what an earlier import created and the files no longer contain.
type Lacking struct {
	Tickets  int // of the files' projects
	Comments int // of the files' tickets
	Links    int // starting at the files' tickets
}

// Any reports whether anything is missing from the files.
func (l Lacking) Any() bool { return l != Lacking{} }

type listedTicket struct {
	Key         string       `json:"key"`
	CommentKeys []string     `json:"comment_keys"` // nil: the file has no comments column
	Links       []listedLink `json:"links"`        // nil: the file has no links column
}

type listedLink struct {
	Kind string `json:"kind"`
	To   string `json:"to"` // in upper case
}

// reconcile finds what the files no longer contain and deletes it if asked to. It reads the files a
// second time, so that they need not fit into memory.
func (l *loader) reconcile(ctx context.Context, rows Rows, projects map[string]int64, remove bool) (Lacking, error) {
	var lacking Lacking
	batch, size := []listedTicket(nil), 0
	flush := func() error {
		var counts []struct{ Comments, Links int }
		err := l.db.Call(ctx, "reconcile_tickets", map[string]any{"tickets": batch, "remove": remove}, &counts)
		if err != nil {
			return fmt.Errorf("compare comments and links: %w", err)
		}
		for _, c := range counts {
			lacking.Comments += c.Comments
			lacking.Links += c.Links
		}
		batch, size = nil, 0
		return nil
	}
	for ticket, err := range rows.Tickets() {
		if row := (*ticketfile.RowError)(nil); errors.As(err, &row) {
			continue
		} else if err != nil {
			return lacking, err
		}
		if ticket.Comments == nil && ticket.Links == nil {
			continue
		}
		listed := newListedTicket(ticket)
		if listed.Links != nil {
			listed.Links = append(listed.Links, l.inward[strings.ToUpper(ticket.Key)]...)
		}
		batch, size = append(batch, listed), size+1+len(listed.CommentKeys)+len(listed.Links)
		if size >= batchListed {
			if err := flush(); err != nil {
				return lacking, err
			}
		}
	}
	if len(batch) > 0 {
		if err := flush(); err != nil {
			return lacking, err
		}
	}
	var err error
	lacking.Tickets, err = l.lackingTickets(ctx, slices.Sorted(maps.Values(projects)), remove)
	return lacking, err
}

func newListedTicket(ticket ticketfile.Ticket) listedTicket {
	listed := listedTicket{Key: ticket.Key}
	if ticket.Comments != nil {
		listed.CommentKeys = []string{}
	}
	for _, c := range ticket.Comments {
		listed.CommentKeys = append(listed.CommentKeys, c.Key)
	}
	if ticket.Links != nil {
		listed.Links = []listedLink{}
	}
	for _, link := range ticket.Links {
		if strings.EqualFold(link.From, ticket.Key) {
			listed.Links = append(listed.Links, listedLink{Kind: link.Kind, To: strings.ToUpper(link.To)})
		}
	}
	return listed
}

// noteInward keeps a ticket's links that start at another ticket, to compare them with that
// ticket's own list.
func (l *loader) noteInward(ticket ticketfile.Ticket) {
	for _, link := range ticket.Links {
		if !strings.EqualFold(link.From, ticket.Key) {
			from := strings.ToUpper(link.From)
			l.inward[from] = append(l.inward[from], listedLink{Kind: link.Kind, To: strings.ToUpper(link.To)})
		}
	}
}

// lackingTickets counts the tickets of these projects that were not loaded.
func (l *loader) lackingTickets(ctx context.Context, projects []int64, remove bool) (lacking int, err error) {
	var after int64
	for {
		var page []struct {
			TicketID int64  `json:"ticket_id"`
			Key      string `json:"key"`
		}
		if err := l.db.Call(ctx, "page_tickets", map[string]any{"project_ids": projects, "after": after}, &page); err != nil {
			return lacking, fmt.Errorf("compare tickets: %w", err)
		}
		if len(page) == 0 {
			return lacking, nil
		}
		var gone []int64
		for _, ticket := range page {
			after = ticket.TicketID
			if !l.loaded[ticket.TicketID] {
				gone = append(gone, ticket.TicketID)
				l.report.Lacking(ticket.Key)
			}
		}
		lacking += len(gone)
		if !remove {
			continue
		}
		for part := range slices.Chunk(gone, batchTickets) {
			if err := l.db.Call(ctx, "delete_tickets", map[string]any{"ticket_ids": part}, new(int64)); err != nil {
				return lacking, fmt.Errorf("remove tickets: %w", err)
			}
		}
	}
}
