// Package load imports tickets and documents from files and indexes them. It owns the order and
// size of batches, retries, the counts of failures, and when an import ends early. A bad row or a
// failed batch costs only itself. Tickets are upserted by their external keys and documents by
// their paths, so a second import changes only what differs and an interrupted one can be
// continued. A ticket changes only if its key is new or came from an earlier import of the same
// origin.
package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/index"
	"tasklens/internal/rescue"
	"tasklens/internal/ticketfile"
)

// Sizes of a batch, far below what a gateway accepts and a slow database writes in time. A batch
// that is still too large is halved.
const (
	batchRows  = 100     // tickets, or sources to index
	batchBytes = 1 << 20 // of texts
	workers    = 3       // concurrent batches: one being chunked, one at the model, one at the database
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Indexer updates the chunks of sources. If it returns an error, results that are Done are still
// valid.
type Indexer interface {
	Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error)
}

// Options are what an import may do beyond adding and updating rows of its own.
type Options struct {
	Origin    string // the export that the files are a copy of; "" if the files or earlier imports tell
	TakeOver  bool   // also change projects and tickets of another origin, or of none
	Prune     bool   // delete what earlier imports of this origin stored and this one does not list
	PruneMany bool   // even more than a fifth of the origin's tickets
}

// Trouble is a kind of event that does not end an import.
type Trouble string

const (
	LeftOut  Trouble = "left out"         // a row, a file, or a link to an unknown ticket
	Warning  Trouble = "warning"          // a field that was left out; the rest of the row was loaded
	Refused  Trouble = "refused"          // a project or ticket that is not this origin's
	Failed   Trouble = "failed"           // what could not be written or indexed
	Unlisted Trouble = "not in the files" // some of what the database has and the files do not
)

// Report receives events, one at a time.
type Report struct {
	Began   func(origin string)
	Trouble func(Trouble, error)
	Indexed func(count int) // tickets or documents written and searchable since the last call
}

// Counts is what imports of all kinds count.
type Counts struct {
	Unwritten int // rows that the database rejected
	Unindexed int // sources written without current chunks; workers retry them
	Chunks    int
	Embedded  int
	Reused    int
	Tokens    int
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
	Unknown  int  // of these, skipped because a ticket does not exist
	Stored   int  // tickets of this origin in the database, before pruning
	Unlisted Gone // in the database but not in the files; nothing if the files were not imported completely
	Removed  Gone // of these, deleted; nothing without Prune

	Counts
}

// Load writes all rows and indexes them. Failures are reported and counted, and the rest continues.
// It ends early if nothing at all can be stored or embedded, or if the files cannot be read. Rows
// written before that stay.
func Load(ctx context.Context, db Database, indexer Indexer, files *ticketfile.Reader, report Report, options Options) (Summary, error) {
	l := &loader{importer: importer{db: db, indexer: indexer, report: report}, files: files, options: options}
	err := l.load(ctx)
	l.sum.Counts = l.counts
	return l.sum, err
}

type loader struct {
	importer
	files   *ticketfile.Reader
	options Options

	id       int64           // of this import, in the database
	projects map[string]bool // those in the database; true for a refused one
	rows     int             // good tickets of projects that are not refused
	sum      Summary
}

func (l *loader) load(ctx context.Context) error {
	projects, err := l.readProjects()
	if err != nil {
		return err
	}
	if len(projects) > 0 {
		if err := l.begin(ctx, projects); err != nil {
			return err
		}
	}
	if err := l.writeProjects(ctx, projects); err != nil {
		return err
	}
	if err := l.loadTickets(ctx); err != nil {
		return err
	}
	if len(projects) > 0 {
		if err := l.link(ctx); err != nil {
			return err
		}
	}
	return l.prune(ctx)
}

func (l *loader) badRow(row error) {
	l.sum.BadRows++
	l.trouble(LeftOut, row)
}

// loadTickets writes all tickets in their order, so that their ids have it too, and indexes several
// batches at a time.
func (l *loader) loadTickets(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	size := 0
	var batch []ticketfile.Ticket
	flush := func() {
		tickets := batch
		batch, size = nil, 0
		var sources []index.Source
		unwritten := rescue.Do(func() (err error) {
			sources, err = l.writeTickets(ctx, tickets)
			return err
		})
		group.Go(func() error {
			return rescue.Do(func() error { return l.indexTickets(ctx, tickets, sources, unwritten) })
		})
	}
	var failed error
	for ticket, err := range l.files.Tickets() {
		if row, is := errors.AsType[*ticketfile.RowError](err); is {
			l.badRow(row)
			continue
		}
		if failed = err; failed != nil || ctx.Err() != nil {
			break // a file or a batch failed
		}
		if !l.accepts(ticket) {
			continue
		}
		bytes := ticket.Size()
		if len(batch) > 0 && size+bytes > batchBytes {
			flush()
		}
		batch, size = append(batch, ticket), size+bytes
		if len(batch) == batchRows {
			flush()
		}
	}
	if len(batch) > 0 && failed == nil {
		flush()
	}
	return errors.Join(group.Wait(), failed)
}

// accepts reports whether the ticket's project is there and not refused.
func (l *loader) accepts(ticket ticketfile.Ticket) bool {
	refused, known := l.projects[ticket.ProjectKey]
	switch {
	case !known:
		l.badRow(&ticketfile.RowError{File: ticket.File, Line: ticket.Line,
			Reason: fmt.Sprintf("project %q of ticket %s is not among the projects", ticket.ProjectKey, ticket.Key)})
		return false
	case refused:
		l.sum.RefusedTickets++
		return false
	}
	for _, warning := range ticket.Warnings {
		l.sum.BadFields++
		l.trouble(Warning, warning)
	}
	l.rows++
	return true
}

// writeTickets writes some tickets and returns what is to be embedded of them.
func (l *loader) writeTickets(ctx context.Context, tickets []ticketfile.Ticket) (sources []index.Source, err error) {
	name := func(t ticketfile.Ticket) string { return "ticket " + t.Key }
	err = write(ctx, &l.importer, tickets, name, func(part []ticketfile.Ticket) error {
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
				l.sum.RefusedTickets++
				l.trouble(Refused, errors.New("ticket "+row.Key+heldBy(*row.HeldBy)))
				continue
			}
			l.sum.Tickets++
			l.sum.Comments += len(row.CommentIDs)
			sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID})
			for _, comment := range row.CommentIDs {
				sources = append(sources, index.Source{ProjectID: row.ProjectID, TicketID: &row.TicketID, CommentID: &comment})
			}
		}
		return nil
	})
	return sources, err
}

// indexTickets indexes what was written of some tickets. err is that of their writing.
func (l *loader) indexTickets(ctx context.Context, tickets []ticketfile.Ticket, sources []index.Source, err error) error {
	for part := range slices.Chunk(sources, batchRows) {
		err = errors.Join(err, l.index(ctx, part))
	}
	if err != nil {
		return fmt.Errorf("tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	l.indexed(len(tickets))
	return nil
}
