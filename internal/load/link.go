package load

import (
	"context"
	"fmt"
	"slices"

	"tasklens/internal/bulk"
)

type linkRow struct {
	From string `json:"from"`
	Kind string `json:"kind"`
	To   string `json:"to"`
}

func linksOf(tickets []ticketRow) []linkRow {
	var links []linkRow
	for _, ticket := range tickets {
		for _, link := range ticket.links {
			links = append(links, linkRow{link.From, link.Kind, link.To})
		}
	}
	return links
}

// link writes links and defers those with a ticket that is not stored yet.
func (l *loader) link(ctx context.Context, links []linkRow) error {
	for part := range slices.Chunk(links, batchLinks) {
		err := bulk.Write(ctx, l.bulk, part, func(row linkRow) string { return "link of " + row.From }, func(part []linkRow) error {
			var missing []struct {
				Place int `json:"place"`
			}
			if err := l.db.Call(ctx, "upsert_ticket_links", map[string]any{"links": part}, &missing); err != nil {
				return fmt.Errorf("write links: %w", err)
			}
			l.mutex.Lock()
			defer l.mutex.Unlock()
			for _, link := range missing {
				if link.Place >= 0 && link.Place < len(part) {
					l.unlinked = append(l.unlinked, part[link.Place])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// linkRest writes the deferred links. Links whose tickets are still missing stay in unlinked.
func (l *loader) linkRest(ctx context.Context) error {
	waiting := l.unlinked
	l.unlinked = nil
	return l.link(ctx, waiting)
}
