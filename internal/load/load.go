// Package load imports projects and tickets from files and indexes them. It owns the order and size
// of batches and confines failures: a bad row or a failed batch costs only itself. Rows are
// upserted by their external keys, so a second import changes only what differs and an interrupted
// one can be continued. A row changes only if its key is new or came from an earlier import of the
// same origin.
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
// after it. Format names the kind of files.
type Rows interface {
	Projects() iter.Seq2[ticketfile.Project, error]
	Tickets() iter.Seq2[ticketfile.Ticket, error]
	Format() string
}

// Options are what an import may do beyond adding and updating rows of its own.
type Options struct {
	Origin    string // the export that the files are a copy of; "" if the files or earlier imports tell
	TakeOver  bool   // also change projects and tickets of another origin, or of none
	Prune     bool   // delete what earlier imports of this origin stored and this one does not list
	PruneMany bool   // even more than a fifth of the origin's tickets
}

// Report receives events. Its functions are called from several goroutines.
type Report struct {
	Began    func(origin string)
	BadRow   func(*ticketfile.RowError) // a row that was skipped
	BadField func(*ticketfile.RowError) // a part of a row that was skipped; the rest was loaded
	Refused  func(what string)          // a project or ticket that is not this origin's
	Failed   func(error)                // what could not be written or indexed; the import continues
	Indexed  func(tickets int)          // tickets written and searchable since the last call
	Unknown  func(link string)          // some of the links that were skipped because a ticket does not exist
	Unlisted func(what string)          // some of what the database has and the files do not
}

// Summary counts what was done.
type Summary struct {
	Projects  int
	Tickets   int // written
	Comments  int // written or unchanged
	BadRows   int
	BadFields int

	RefusedProjects int
	RefusedTickets  int // those of refused projects too

	Links    int  // in the files
	Unknown  int  // of these, skipped
	Stored   int  // tickets of this origin in the database, before pruning
	Unlisted Gone // in the database but not in the files; nothing if the files were not imported completely
	Removed  Gone // of these, deleted; nothing without Prune

	bulk.Counts
}

// Load writes all rows and indexes them. Failures are reported and counted, and the rest continues.
// It ends early if nothing at all can be stored or embedded, or if the files cannot be read. Rows
// written before that stay.
func Load(ctx context.Context, db Database, indexer bulk.Indexer, rows Rows, report Report, options Options) (Summary, error) {
	l := &loader{db: db, bulk: bulk.New(db, indexer, report.Failed), report: report, options: options}
	err := l.load(ctx, rows)
	l.sum.Tickets, l.sum.Comments, l.sum.Counts = int(l.written.Load()), int(l.comments.Load()), l.bulk.Counts()
	l.sum.RefusedTickets += int(l.refused.Load())
	return l.sum, err
}

type loader struct {
	db      Database
	bulk    *bulk.Import
	report  Report
	options Options

	id       int64 // of this import, in the database
	projects map[string]project
	rows     int     // good tickets of projects that are not refused
	sum      Summary // but for the counts that several goroutines add to:
	written  atomic.Int64
	comments atomic.Int64
	refused  atomic.Int64 // tickets
}

// project is how the database answered to a project: its id, unless it is refused.
type project struct {
	id      int64
	refused bool
}

func (l *loader) load(ctx context.Context, rows Rows) error {
	projects, err := l.readProjects(rows)
	if err == nil && len(projects) > 0 {
		err = l.begin(ctx, rows.Format(), projects)
	}
	if err == nil {
		err = l.writeProjects(ctx, projects)
	}
	if err == nil {
		err = l.tickets(ctx, rows)
	}
	if err == nil && len(projects) > 0 {
		err = l.link(ctx)
	}
	if err == nil {
		err = l.prune(ctx)
	}
	return err
}

func (l *loader) badRow(row *ticketfile.RowError) {
	l.sum.BadRows++
	l.report.BadRow(row)
}

func (l *loader) badField(field *ticketfile.RowError) {
	l.sum.BadFields++
	l.report.BadField(field)
}

// tickets writes all tickets in their order, so that their ids have it too, and indexes several
// batches at a time.
func (l *loader) tickets(ctx context.Context, rows Rows) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	size := 0
	var batch []ticketRow
	flush := func() {
		tickets := batch
		batch, size = nil, 0
		var sources []index.Source
		unwritten := rescue.Do(func() (err error) {
			sources, err = l.write(ctx, tickets)
			return err
		})
		group.Go(func() error {
			return rescue.Do(func() error { return l.index(ctx, tickets, sources, unwritten) })
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
		project, known := l.projects[ticket.ProjectKey]
		if project.refused {
			l.sum.RefusedTickets++
			continue
		}
		if !known {
			l.badRow(&ticketfile.RowError{File: ticket.File, Line: ticket.Line,
				Reason: fmt.Sprintf("project %q of ticket %s is not among the projects", ticket.ProjectKey, ticket.Key)})
			continue
		}
		for _, warning := range ticket.Warnings {
			l.badField(warning)
		}
		l.rows++
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

// write writes some tickets and returns what is to be embedded of them.
func (l *loader) write(ctx context.Context, tickets []ticketRow) (sources []index.Source, err error) {
	err = bulk.Write(ctx, l.bulk, tickets, func(row ticketRow) string { return "ticket " + row.Key }, func(part []ticketRow) error {
		var written []struct {
			Key        string  `json:"key"`
			TicketID   int64   `json:"ticket_id"`
			ProjectID  int64   `json:"project_id"`
			CommentIDs []int64 `json:"comment_ids"`
			HeldBy     *string `json:"held_by"`
		}
		if err := l.db.Call(ctx, "upsert_tickets", map[string]any{"tickets": part, "import_id": l.id, "take_over": l.options.TakeOver}, &written); err != nil {
			return fmt.Errorf("write tickets %s to %s: %w", part[0].Key, part[len(part)-1].Key, err)
		}
		for _, row := range written {
			if row.HeldBy != nil {
				l.refused.Add(1)
				l.report.Refused("ticket " + row.Key + heldBy(*row.HeldBy))
				continue
			}
			l.written.Add(1)
			sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID})
			for _, comment := range row.CommentIDs {
				l.comments.Add(1)
				sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID, CommentID: &comment})
			}
		}
		return nil
	})
	return sources, err
}

// index indexes what was written of some tickets. err is that of their writing.
func (l *loader) index(ctx context.Context, tickets []ticketRow, sources []index.Source, err error) error {
	for part := range slices.Chunk(sources, batchSources) {
		err = errors.Join(err, l.bulk.Index(ctx, part))
	}
	if err != nil {
		return fmt.Errorf("tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	l.report.Indexed(len(tickets))
	return nil
}
