package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/web"
)

// edit is an edit of a ticket with a text that no other has.
type edit struct {
	ticket int
	text   string
}

// newEdit is edit i of a run.
func (s *Soak) newEdit(ticket, i int) edit {
	return edit{ticket, fmt.Sprintf("%s fresh%dx%d", s.Collection.Query(s.Salt+i), s.Salt, i)}
}

// follow makes an edit and waits until a search finds it. It looks for the chunk in the database,
// since polling the service would distort the measurement.
func (s *Soak) follow(ctx context.Context, e edit) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	err := s.locked(func() error {
		_, err := s.Connection.Exec(ctx, `update public.tickets set description = $1 where ticket_id = $2`, e.text, e.ticket)
		return err
	})
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	for stored := false; !stored; {
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("wait for the chunk: %w", err)
		}
		err := s.locked(func() error {
			return s.Connection.QueryRow(ctx, `select exists (select from public.chunks where ticket_id = $1 and strpos(text, $2) > 0)`, e.ticket, e.text).Scan(&stored)
		})
		if err != nil {
			return fmt.Errorf("wait for the chunk: %w", err)
		}
	}
	return s.find(ctx, e)
}

// locked uses the connection, which serves one statement at a time.
func (s *Soak) locked(do func() error) error {
	s.using.Lock()
	defer s.using.Unlock()
	return do()
}

// find searches for a ticket by its whole text. It must be found by vector search, with the new
// text.
func (s *Soak) find(ctx context.Context, e edit) error {
	whole := s.Collection.Ticket(e.ticket-1).Name + " " + e.text
	var found struct {
		Results []struct {
			TicketID int `json:"ticket_id"`
			Source   string
			Text     string
		}
	}
	err := web.Call(ctx, http.MethodPost, s.Service+"/api/hybrid-search", map[string]any{"query": whole, "match_threshold": 0.3, "limit": 20}, &found)
	if err != nil {
		return err
	}
	for _, r := range found.Results {
		if r.TicketID == e.ticket && r.Source == "vector" && strings.Contains(r.Text, e.text) {
			return nil
		}
	}
	return fmt.Errorf("ticket %d is %w by %q", e.ticket, errNotFound, e.text)
}

var errNotFound = errors.New("not found")

// change makes edit i. Tickets and comments stay as many, and their texts about as long.
func (s *Soak) change(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	// Neither the long ticket nor one that is followed.
	pick := func(i int) Ticket {
		return s.Collection.Ticket(longTicket + 1 + i*7919%(s.Collection.Tickets()-longTicket-1-soakFollowed))
	}
	t, attributes := pick(i), s.Collection.attributes(pick(i).ID-1)
	var batch pgx.Batch
	switch kind := i % 4; {
	case kind == 0:
		batch.Queue(`update public.tickets set description = $2 where ticket_id = $1`, t.ID, pick(31*i+7).Description)
	case kind == 1 && len(t.Comments) > 0:
		batch.Queue(`update public.comments set body = $2 where comment_id = $1`, commentID(t, 0), fmt.Sprintf("%s edit%d", t.Comments[0], i))
	case kind == 2: // deleted, and then written again
		if _, err := s.Connection.Exec(ctx, `delete from public.tickets where ticket_id = $1`, t.ID); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		batch.Queue(`insert into public.tickets (ticket_id, key, project_id, status_id, name, description, labels, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			t.ID, t.Key(), t.Project, t.Status, t.Name, t.Description, attributes.labels, attributes.created)
		for k, body := range t.Comments {
			batch.Queue(`insert into public.comments (comment_id, ticket_id, author, body) values ($1, $2, 'Person 1', $3)`, commentID(t, k), t.ID, body)
		}
	default:
		batch.Queue(`update public.tickets set description = $2 where ticket_id = $1`, t.ID, fmt.Sprintf("%s edit%d", t.Description, i))
	}
	if err := s.Connection.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}
