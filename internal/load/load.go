// Package load writes tickets and documents from files to the database, which queues them for
// embedding. It owns the order of rows, the size of batches, retries, and the counts of failures. A
// bad row costs only itself. Tickets are upserted by their external keys and documents by their
// paths, so a second import changes only what differs and an interrupted one can be continued. A
// ticket changes only if its key is new or came from an earlier import of the same origin.
package load

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tasklens/internal/ticketfile"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Options are what an import may do beyond adding and updating rows of its own.
type Options struct {
	Origin    string // the export that the files are a copy of; "" if the files or earlier imports tell
	Language  string // of projects for which the files have none, as Postgres names it; "" leaves what is stored
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
	Failed   Trouble = "failed"           // what could not be written
	Repeated Trouble = "repeated"         // a key that the files hold more than once
	Unlisted Trouble = "not in the files" // some of what the database has and the files do not
)

// Report receives events.
type Report struct {
	Began   func(origin string)
	Trouble func(Trouble, error)
	Written func(rows int) // tickets or documents since the last call
}

// Summary counts what was done.
type Summary struct {
	Projects     int
	Tickets      int // written or unchanged, as comments and documents
	Comments     int
	Documents    int
	NewDocuments int

	BadRows   int // or files
	BadFields int
	Unwritten int // rows that the database rejected
	Repeated  int // rows with the key of an earlier one

	RefusedProjects int
	RefusedTickets  int // those of refused projects too

	Links      int    // in the files
	Unknown    int    // of these, skipped because a ticket does not exist
	Incomplete string // what the files show that they lack

	Stored   int  // tickets of this origin in the database, before pruning
	Unlisted Gone // in the database but not in the files; nothing if the files were not imported completely
	Removed  Gone // of these, deleted; nothing without Prune
}

// Load writes all rows. Failures are reported and counted, and the rest continues. It ends early if
// nothing can be stored or the files cannot be read. Rows written before that stay.
func Load(ctx context.Context, db Database, files *ticketfile.Reader, report Report, options Options) (Summary, error) {
	l := &loader{writer: writer{db: db, report: report}, files: files, options: options, projects: map[string]bool{}, seen: map[string]place{}}
	err := l.load(ctx)
	return l.sum, err
}

type loader struct {
	writer
	files   *ticketfile.Reader
	options Options

	id       int64            // of this import, in the database
	projects map[string]bool  // those in the database; true for a refused one
	seen     map[string]place // of each good ticket, by its key in capitals
	rows     int              // good tickets of projects that are not refused
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
	if err := write(ctx, &l.writer, projects, kind[ticketfile.Project]{
		name:   func(p ticketfile.Project) string { return "project " + p.Key },
		upsert: l.upsertProjects,
	}); err != nil {
		return err
	}
	if err := writeAll(ctx, &l.writer, l.files.Tickets(), kind[ticketfile.Ticket]{
		name:    func(t ticketfile.Ticket) string { return "ticket " + t.Key },
		size:    ticketfile.Ticket.Size,
		accepts: l.accepts,
		upsert:  l.upsertTickets,
	}); err != nil {
		return err
	}
	l.sum.Incomplete = l.files.Incomplete()
	if len(projects) > 0 {
		if err := l.link(ctx); err != nil {
			return err
		}
	}
	return l.prune(ctx)
}

// accepts reports whether the ticket's project is there and not refused.
func (l *loader) accepts(ticket ticketfile.Ticket) bool {
	switch refused, known := l.projects[ticket.ProjectKey]; {
	case !known:
		l.skip(&ticketfile.RowError{File: ticket.File, Line: ticket.Line, Key: ticket.Key,
			Reason: fmt.Sprintf("project %q is not among the projects", ticket.ProjectKey)})
		return false
	case refused:
		l.sum.RefusedTickets++
		return false
	}
	for _, warning := range ticket.Warnings {
		l.warn(warning)
	}
	here := place{fmt.Sprintf("%s:%d", ticket.File, ticket.Line), ticket.Written}
	key := strings.ToUpper(ticket.Key)
	switch first, again := l.seen[key]; {
	case again && first.key != here.key:
		l.skip(&ticketfile.RowError{File: ticket.File, Line: ticket.Line, Key: ticket.Key,
			Reason: fmt.Sprintf("%q and %q, at %s, are the same key: one of them must become another", here.key, first.key, first.at)})
		return false
	case again:
		l.sum.Repeated++
		l.report.Trouble(Repeated, fmt.Errorf("%s: %s is at %s too; the last row counts", here.at, ticket.Key, first.at))
	}
	l.seen[key] = here
	l.rows++
	return true
}

// place is where a ticket is in the files, and its key there.
type place struct{ at, key string }

func (l *loader) upsertTickets(ctx context.Context, tickets []ticketfile.Ticket) error {
	var written []struct {
		Key        string  `json:"key"`
		CommentIDs []int64 `json:"comment_ids"`
		HeldBy     *string `json:"held_by"`
		Reason     *string `json:"reason"`
	}
	if err := l.db.Call(ctx, "upsert_tickets", map[string]any{"tickets": tickets, "import_id": l.id, "take_over": l.options.TakeOver}, &written); err != nil {
		return fmt.Errorf("write tickets %s to %s: %w", tickets[0].Key, tickets[len(tickets)-1].Key, err)
	}
	for _, row := range written {
		if row.Reason != nil {
			l.rows--
			l.skip(errors.New("ticket " + row.Key + ": " + *row.Reason))
			continue
		}
		if row.HeldBy != nil {
			l.sum.RefusedTickets++
			l.report.Trouble(Refused, errors.New("ticket "+row.Key+heldBy(*row.HeldBy)))
			continue
		}
		l.sum.Tickets++
		l.sum.Comments += len(row.CommentIDs)
	}
	l.report.Written(len(tickets))
	return nil
}
