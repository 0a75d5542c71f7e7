package api_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/index"
	"tasklens/internal/testbed"
)

type project struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type ticket struct {
	Key         string `json:"key"`
	Project     string `json:"project_key"`
	Status      string `json:"status"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Notes       []note `json:"notes"`
}

type note struct {
	Note string `json:"note"`
}

// load writes projects and tickets and remembers their ids.
func (s *service) load(projects []project, tickets []ticket) {
	s.t.Helper()
	tickets = slices.Clone(tickets) // tests share them
	for i := range tickets {
		if tickets[i].Notes == nil {
			tickets[i].Notes = []note{}
		}
		tickets[i].Status = cmp.Or(tickets[i].Status, "To Do")
	}
	var written []struct {
		Key       string
		ProjectID int64  `json:"project_id"`
		TicketID  *int64 `json:"ticket_id"`
	}
	remember := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatalf("load rows: %v", err)
		}
		for _, row := range written {
			if s.ids[row.Key] = row.ProjectID; row.TicketID != nil {
				s.ids[row.Key] = *row.TicketID
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if len(projects) > 0 { // null is no list
		remember(s.rows.Call(ctx, "upsert_projects", map[string]any{"projects": projects}, &written))
	}
	if len(tickets) > 0 {
		written = nil
		remember(s.rows.Call(ctx, "upsert_tickets", map[string]any{"tickets": tickets}, &written))
		if len(written) != len(tickets) {
			s.t.Fatalf("load rows: %d tickets of %d were written", len(written), len(tickets))
		}
	}
}

// index loads projects and tickets, and embeds them.
func (s *service) index(projects []project, tickets []ticket) {
	s.t.Helper()
	s.load(projects, tickets)
	var sources []index.Source
	for _, p := range projects {
		sources = append(sources, index.Source{ProjectID: s.ids[p.Key]})
	}
	for _, t := range tickets {
		id := s.ids[t.Key]
		sources = append(sources, index.Source{ProjectID: s.ids[t.Project], TicketID: &id})
	}
	s.embed(sources...)
}

// generate embeds a ticket.
func (s *service) generate(projectKey, ticketKey string) *response {
	s.t.Helper()
	return s.post("/api/embeddings/generate", map[string]any{"project_id": s.ids[projectKey], "ticket_id": s.ids[ticketKey]})
}

// connect opens a database session outside the service.
func (s *service) connect() *pgx.Conn {
	s.t.Helper()
	return testbed.Connect(s.t, s.db.OwnerURL)
}

// run executes a statement outside the service.
func run(t testing.TB, db *pgx.Conn, sql string, arguments ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := db.Exec(ctx, sql, arguments...); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}

// stored is a row of chunks.
type stored struct {
	ID   string
	Kind string
	Text string
}

// chunks returns those of a ticket, in order.
func (s *service) chunks(db *pgx.Conn, ticketKey string) []stored {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, _ := db.Query(ctx, "select chunk_id::text, kind, text from public.chunks where ticket_id = $1 order by position", s.ids[ticketKey])
	chunks, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
	if err != nil {
		s.t.Errorf("read chunks: %v", err)
	}
	return chunks
}
