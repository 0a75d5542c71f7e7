// Package load brings projects and tickets from files into the tracker and has them indexed. It owns the order and
// size of the batches, and that a bad row, a failure or an interruption costs nothing but itself. Rows are written by their
// outside keys, so that loading again changes only what differs, and goes on where an interrupted load stopped.
package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/bulk"
	"tasklens/internal/index"
	"tasklens/internal/rescue"
	"tasklens/internal/ticketfile"
)

// Sizes of what travels together, far below what a gateway takes and a slow database writes in time. What is too much all the
// same is halved.
const (
	batchTickets = 100
	batchBytes   = 1 << 20 // of names, descriptions, notes and comments
	batchSources = 100
	workers      = 3 // batches under way: one chunked, one with the model, one with the database
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
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
	Failed   func(error)                // what could not be written or indexed; the rest goes on
	Indexed  func(tickets int)          // tickets written and searchable since the last call
	Unknown  func(link Link)            // a link that was left out: one of its tickets is nowhere
	Unlisted func(what string)          // what the database has and the files do not
}

// Summary counts what was done.
type Summary struct {
	Projects  int
	Tickets   int // that were written
	Comments  int // that were written or already there
	BadRows   int
	BadFields int

	Links    int  // that the files hold
	Unknown  int  // of them left out
	Unlisted Gone // what the files no longer hold, of the projects whose tickets they hold
	Removed  Gone // of that; nothing without prune

	bulk.Counts
}

// Load writes all rows and indexes them. What fails is reported and counted, and the rest goes on; it ends early where nothing at
// all can be stored or embedded, or the files cannot be read. What was written before stays. With prune it removes what the
// files no longer hold, unless anything of them was left out: a broken export must not cost what it lacks.
func Load(ctx context.Context, db Database, indexer bulk.Indexer, rows Rows, report Report, prune bool) (Summary, error) {
	l := &loader{db: db, bulk: bulk.New(db, indexer, report.Failed), report: report, listed: newListed()}
	projects, err := l.projects(ctx, rows)
	if err == nil {
		err = l.tickets(ctx, rows, projects)
	}
	if err == nil {
		err = l.finish(ctx, rows, projects, prune)
	}
	return Summary{
		Projects: len(projects), Tickets: int(l.written.Load()), Comments: int(l.comments.Load()), BadRows: l.badRows, BadFields: l.badFields, Counts: l.bulk.Counts(),
		Links: len(l.listed.links), Unknown: l.unknown, Unlisted: l.unlisted, Removed: l.removed,
	}, err
}

type loader struct {
	db       Database
	bulk     *bulk.Import
	report   Report
	written  atomic.Int64 // tickets
	comments atomic.Int64

	badRows, badFields int // rows are read by one goroutine
	listed             listed
	unknown            int
	unlisted, removed  Gone
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
		var sources []index.Source
		err := bulk.Write(ctx, l.bulk, batch, func(row projectRow) string { return "project " + row.Key }, func(part []projectRow) error {
			var written []struct {
				Key       string `json:"key"`
				ProjectID int64  `json:"project_id"`
			}
			if err := l.db.Call(ctx, "upsert_projects", map[string]any{"projects": part}, &written); err != nil {
				return fmt.Errorf("write projects: %w", err)
			}
			for _, p := range written {
				ids[p.Key] = p.ProjectID
				sources = append(sources, index.Source{ProjectID: p.ProjectID})
			}
			return nil
		})
		batch = nil
		return errors.Join(err, l.bulk.Index(ctx, sources))
	}
	for project, err := range rows.Projects() {
		if row := (*ticketfile.RowError)(nil); errors.As(err, &row) {
			l.badRow(row)
			continue
		} else if err != nil {
			return ids, err
		}
		batch = append(batch, projectRow{project.Key, project.Name, optional(project.Description)})
		if len(batch) == batchSources {
			if err := flush(); err != nil {
				return ids, err
			}
		}
	}
	if len(batch) > 0 {
		return ids, flush()
	}
	return ids, nil
}

// tickets writes and indexes all tickets, several batches at a time.
func (l *loader) tickets(ctx context.Context, rows Rows, projects map[string]int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	size := 0
	var batch []ticketRow
	flush := func() {
		tickets := batch
		batch, size = nil, 0
		group.Go(func() error {
			return rescue.Do(func() error { return l.batch(ctx, tickets) })
		})
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
		l.listed.add(ticket)
		row := newTicketRow(ticket)
		if len(batch) > 0 && size+row.bytes() > batchBytes {
			flush()
		}
		batch, size = append(batch, row), size+row.bytes()
		if len(batch) == batchTickets {
			flush()
		}
		if ctx.Err() != nil {
			break // a batch failed: its error is the one to report
		}
	}
	if len(batch) > 0 && failed == nil {
		flush()
	}
	return errors.Join(group.Wait(), failed)
}

// batch writes some tickets and indexes them.
func (l *loader) batch(ctx context.Context, tickets []ticketRow) error {
	var sources []index.Source
	err := bulk.Write(ctx, l.bulk, tickets, func(row ticketRow) string { return "ticket " + row.Key }, func(part []ticketRow) error {
		var written []struct {
			TicketID   int64   `json:"ticket_id"`
			ProjectID  int64   `json:"project_id"`
			CommentIDs []int64 `json:"comment_ids"`
		}
		if err := l.db.Call(ctx, "upsert_tickets", map[string]any{"tickets": part}, &written); err != nil {
			return fmt.Errorf("write tickets %s to %s: %w", part[0].Key, part[len(part)-1].Key, err)
		}
		l.written.Add(int64(len(written)))
		for _, row := range written {
			sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID})
			for _, comment := range row.CommentIDs {
				l.comments.Add(1)
				sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID, CommentID: &comment})
			}
		}
		return nil
	})
	for part := range slices.Chunk(sources, batchSources) {
		err = errors.Join(err, l.bulk.Index(ctx, part))
	}
	if err != nil {
		return fmt.Errorf("tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	l.report.Indexed(len(tickets))
	return nil
}
