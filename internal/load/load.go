// Package load imports projects and tickets from files and indexes them. It owns the order and size
// of batches and confines failures: a bad row or a failed batch costs only itself. Rows are
// upserted by their external keys, so a second import changes only what differs and an interrupted
// one can be continued.
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

// Sizes of a batch, far below what a gateway accepts and a slow database writes in time. A batch
// that is still too large is halved.
const (
	batchTickets = 100
	batchBytes   = 1 << 20 // of names, descriptions, notes and comments
	batchSources = 100
	workers      = 3 // concurrent batches: one being chunked, one at the model, one at the database
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Rows yields projects and tickets. A bad row is a *ticketfile.RowError, and iteration continues
// after it.
type Rows interface {
	Projects() iter.Seq2[ticketfile.Project, error]
	Tickets() iter.Seq2[ticketfile.Ticket, error]
}

// Report receives events. Its functions are called from several goroutines.
type Report struct {
	BadRow   func(*ticketfile.RowError) // a row that was skipped
	BadField func(*ticketfile.RowError) // a part of a row that was skipped; the rest was loaded
	Failed   func(error)                // what could not be written or indexed; the import continues
	Indexed  func(tickets int)          // tickets written and searchable since the last call
	Unknown  func(link Link)            // a link that was skipped because one of its tickets does not exist
	Unlisted func(what string)          // what the database has and the files do not
}

// Summary counts what was done.
type Summary struct {
	Projects  int
	Tickets   int // written
	Comments  int // written or unchanged
	BadRows   int
	BadFields int

	Links    int  // in the files
	Unknown  int  // of these, skipped
	Unlisted Gone // in the database but no longer in the files, in projects with tickets in the files
	Removed  Gone // of these, deleted; nothing without prune

	bulk.Counts
}

// Load writes all rows and indexes them. Failures are reported and counted, and the rest continues.
// It ends early if nothing at all can be stored or embedded, or if the files cannot be read. Rows
// written before that stay. With prune it deletes what the files no longer contain, unless it
// skipped anything: an incomplete export must not delete data.
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

	badRows, badFields int // rows are read by a single goroutine
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
			break // a batch failed: return its error
		}
	}
	if len(batch) > 0 && failed == nil {
		flush()
	}
	return errors.Join(group.Wait(), failed)
}

// batch writes and indexes some tickets.
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
