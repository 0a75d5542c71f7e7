// Package load brings projects and tickets from files into the tracker and has them indexed. It owns the order and
// size of the batches, and that a bad row or an interruption costs nothing but itself. Rows are written by their outside
// keys, so that loading again changes only what differs, and goes on where an interrupted load stopped.
package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/index"
	"tasklens/internal/ticketfile"
)

// Sizes of what travels together. A batch of tickets is written in one call and its chunks in another, so its longest
// texts must fit a request of the gateway and a statement timeout.
const (
	batchTickets = 100
	batchBytes   = 1 << 20 // of names, descriptions and notes
	batchSources = 100
	workers      = 3 // batches under way: one chunked, one with the model, one with the database
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Indexer brings the chunks of sources in step with their texts.
type Indexer interface {
	Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error)
}

// Rows is where projects and tickets come from. A bad row is a *ticketfile.RowError, and rows go on after it.
type Rows interface {
	Projects() iter.Seq2[ticketfile.Project, error]
	Tickets() iter.Seq2[ticketfile.Ticket, error]
}

// Report is told what happens. Its functions are called from several goroutines.
type Report struct {
	BadRow   func(*ticketfile.RowError) // a row that was left out
	BadField func(*ticketfile.RowError) // a part of a row that was left out; the rest of the row was not
	Indexed  func(tickets int)          // tickets written and searchable since the last call
}

// Summary counts what was done.
type Summary struct {
	Projects  int
	Tickets   int
	BadRows   int
	BadFields int
	Chunks    int
	Embedded  int
	Reused    int
	Tokens    int
}

type counters struct{ chunks, embedded, reused, tokens atomic.Int64 }

// Load writes all rows and indexes them. It stops at the first failure of the database, the model or the files; what
// was written before stays.
func Load(ctx context.Context, db Database, indexer Indexer, rows Rows, report Report) (Summary, error) {
	l := &loader{db: db, indexer: indexer, report: report}
	projects, err := l.projects(ctx, rows)
	s := Summary{Projects: len(projects)}
	if err == nil {
		s.Tickets, err = l.tickets(ctx, rows, projects)
	}
	s.Chunks, s.Embedded, s.Reused = int(l.count.chunks.Load()), int(l.count.embedded.Load()), int(l.count.reused.Load())
	s.Tokens, s.BadRows, s.BadFields = int(l.count.tokens.Load()), l.badRows, l.badFields
	return s, err
}

type loader struct {
	db      Database
	indexer Indexer
	report  Report
	count   counters

	badRows, badFields int // rows are read by one goroutine
}

func (l *loader) badRow(row *ticketfile.RowError) {
	l.badRows++
	l.report.BadRow(row)
}

func (l *loader) badField(field *ticketfile.RowError) {
	l.badFields++
	l.report.BadField(field)
}

type projectRow struct {
	Key         string  `json:"key"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
}

// projects writes and indexes all projects and returns their ids by key.
func (l *loader) projects(ctx context.Context, rows Rows) (map[string]int64, error) {
	ids := map[string]int64{}
	var batch []projectRow
	flush := func() error {
		var written []struct {
			Key       string `json:"key"`
			ProjectID int64  `json:"project_id"`
		}
		if err := l.db.Call(ctx, "upsert_projects", map[string]any{"projects": batch}, &written); err != nil {
			return fmt.Errorf("write projects: %w", err)
		}
		var sources []index.Source
		for _, p := range written {
			ids[p.Key] = p.ProjectID
			sources = append(sources, index.Source{ProjectID: p.ProjectID})
		}
		batch = nil
		return l.index(ctx, sources)
	}
	for project, err := range rows.Projects() {
		if row := (*ticketfile.RowError)(nil); errors.As(err, &row) {
			l.badRow(row)
			continue
		} else if err != nil {
			return nil, err
		}
		batch = append(batch, projectRow{project.Key, project.Name, optional(project.Description)})
		if len(batch) == batchSources {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(batch) > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

type ticketRow struct {
	Key         string     `json:"key"`
	ProjectKey  string     `json:"project_key"`
	Status      string     `json:"status"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	CreatedAt   *time.Time `json:"created_at"`
	Notes       []noteRow  `json:"notes"`
}

type noteRow struct {
	Status    *string    `json:"status"`
	Note      string     `json:"note"`
	CreatedAt *time.Time `json:"created_at"`
}

// tickets writes and indexes all tickets, several batches at a time, and returns how many.
func (l *loader) tickets(ctx context.Context, rows Rows, projects map[string]int64) (int, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	total, size := 0, 0
	var batch []ticketRow
	flush := func() {
		tickets := batch
		batch, size = nil, 0
		total += len(tickets)
		group.Go(func() error { return l.batch(ctx, tickets) })
	}
	var failed error
	for ticket, err := range rows.Tickets() {
		if row := (*ticketfile.RowError)(nil); errors.As(err, &row) {
			l.badRow(row)
			continue
		} else if err != nil {
			failed = err
			break
		}
		if _, known := projects[ticket.ProjectKey]; !known {
			l.badRow(&ticketfile.RowError{File: ticket.File, Line: ticket.Line,
				Reason: fmt.Sprintf("project %q of ticket %s is not among the projects", ticket.ProjectKey, ticket.Key)})
			continue
		}
		for _, warning := range ticket.Warnings {
			l.badField(warning)
		}
		batch = append(batch, newTicketRow(ticket))
		size += len(ticket.Name) + len(ticket.Description)
		for _, note := range ticket.Notes {
			size += len(note.Text)
		}
		if len(batch) == batchTickets || size >= batchBytes {
			flush()
		}
		if ctx.Err() != nil {
			break // a batch failed: its error is the one to report
		}
	}
	if len(batch) > 0 && failed == nil {
		flush()
	}
	return total, errors.Join(group.Wait(), failed)
}

func newTicketRow(t ticketfile.Ticket) ticketRow {
	row := ticketRow{Key: t.Key, ProjectKey: t.ProjectKey, Status: t.Status, Name: t.Name, Description: optional(t.Description),
		CreatedAt: moment(t.CreatedAt), Notes: []noteRow{}}
	for _, note := range t.Notes {
		row.Notes = append(row.Notes, noteRow{Status: optional(note.Status), Note: note.Text, CreatedAt: moment(note.CreatedAt)})
	}
	return row
}

// batch writes some tickets and indexes them.
func (l *loader) batch(ctx context.Context, tickets []ticketRow) error {
	var written []struct {
		TicketID  int64 `json:"ticket_id"`
		ProjectID int64 `json:"project_id"`
	}
	if err := l.db.Call(ctx, "upsert_tickets", map[string]any{"tickets": tickets}, &written); err != nil {
		return fmt.Errorf("write tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	var sources []index.Source
	for _, row := range written {
		sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID})
	}
	if err := l.index(ctx, sources); err != nil {
		return fmt.Errorf("index tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	l.report.Indexed(len(tickets))
	return nil
}

func (l *loader) index(ctx context.Context, sources []index.Source) error {
	results, err := l.indexer.Index(ctx, l.db, sources, false)
	for _, r := range results {
		l.count.chunks.Add(int64(len(r.EmbeddingIDs)))
		l.count.embedded.Add(int64(r.Embedded))
		l.count.reused.Add(int64(r.Reused))
		l.count.tokens.Add(int64(r.Tokens))
	}
	return err
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
