package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"tasklens/internal/fault"
	"tasklens/internal/load"
	"tasklens/internal/notefile"
	"tasklens/internal/openai"
	"tasklens/internal/ticketfile"
	"tasklens/internal/vector"
)

// maxTold is the number of bad rows, and of bad fields, that are printed one by one.
const maxTold = 50

// importFiles imports and indexes a folder or a file. Bad rows and fields are printed with their
// lines; they are an error only if there was no good row. Rows that could not be stored or indexed
// are always an error.
func importFiles(ctx context.Context, args []string) error {
	prune := len(args) == 2 && args[0] == "--prune"
	if prune {
		args = args[1:]
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return errUsage
	}
	e, err := newEmbedding()
	if err != nil {
		return err
	}
	if notefile.Is(args[0]) {
		if prune {
			return errors.New("--prune is for tickets: documents stay until they are deleted")
		}
		return importNotes(ctx, e, args[0])
	}
	rows, err := ticketfile.Open(args[0])
	if err != nil {
		return err
	}
	started := time.Now()
	_, size := rows.Progress()
	bar := newBar(size, "importing", true)
	badRows, badFields, failed := teller{kind: "left out", bar: bar}, teller{kind: "warning", bar: bar}, teller{kind: "failed", bar: bar}
	unknown, unlisted := teller{kind: "left out", bar: bar}, teller{kind: "not in the files", bar: bar}
	if prune {
		unlisted.kind = "removed"
	}
	summary, err := load.Load(ctx, e.db, e.indexer, rows, load.Report{
		BadRow:   func(row *ticketfile.RowError) { badRows.tell(row) },
		BadField: func(field *ticketfile.RowError) { badFields.tell(field) },
		Failed:   func(err error) { failed.tell(err) },
		Indexed: func(int) {
			done, _ := rows.Progress()
			_ = bar.Set64(done)
		},
		Unknown: func(l load.Link) {
			unknown.tell(fmt.Errorf("link %s %s %s: one of the tickets is not there", l.Key, l.Kind, l.Other))
		},
		Unlisted: func(what string) { unlisted.tell(errors.New(what)) },
	}, prune)
	_ = bar.Finish()
	badRows.rest("rows")
	badFields.rest("fields are left out")
	failed.rest("failures")
	unknown.rest("links")
	unlisted.rest("things")
	for _, notice := range rows.Notices() {
		fmt.Fprintln(os.Stderr, notice)
	}
	fmt.Printf("%d projects, %d tickets and %d comments in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d rows, %d fields; %.1f s\n",
		summary.Projects, summary.Tickets, summary.Comments, summary.Chunks, summary.Embedded, summary.Tokens, summary.Reused, summary.BadRows, summary.BadFields,
		time.Since(started).Seconds())
	if summary.Unlisted != (load.Gone{}) {
		fmt.Printf("not in the files: %s; removed: %s%s\n", gone(summary.Unlisted), gone(summary.Removed),
			map[bool]string{false: " (import with --prune to remove them)"}[prune])
	}
	if errors.Is(err, load.ErrNotPruned) {
		return err
	}
	if err == nil {
		e.fitThreshold(ctx)
	}
	return imported(ctx, err, importOutcome{
		good: summary.Projects + summary.Tickets, bad: summary.BadRows, unwritten: summary.Unwritten, unindexed: summary.Unindexed, things: "rows",
	}, failed.last)
}

func gone(g load.Gone) string {
	return fmt.Sprintf("%d tickets, %d comments, %d links", g.Tickets, g.Comments, g.Links)
}

// importOutcome counts the results of an import.
type importOutcome struct {
	good, bad            int
	unwritten, unindexed int
	things               string
}

// imported returns the final error of an import: bad rows only count if no row was good. cause
// explains what is missing.
func imported(ctx context.Context, err error, o importOutcome, cause error) error {
	missing := fmt.Sprintf("%d %s are not written: import them again; %d are written but not indexed: workers, or another import, do it",
		o.unwritten, o.things, o.unindexed)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: written rows stay, and the next import continues from there")
	case err != nil:
		return fmt.Errorf("ended early, because nothing more could be stored; the next import continues from there (%s): %w", missing, err)
	case o.unwritten+o.unindexed > 0:
		return fmt.Errorf("%s: %w", missing, cause)
	case o.good == 0 && o.bad > 0:
		return fmt.Errorf("nothing was imported: none of %d %s is good", o.bad, o.things)
	}
	return nil
}

// teller prints what was skipped, the first maxTold one by one.
type teller struct {
	kind  string
	bar   *progressbar.ProgressBar // cleared while a line is printed
	mutex sync.Mutex
	told  int
	last  error
}

func (t *teller) tell(bad error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.last = bad
	if t.told++; t.told <= maxTold {
		_ = t.bar.Clear()
		fmt.Fprintf(os.Stderr, "%s: %v\n", t.kind, bad)
	}
}

// rest prints how many more there were.
func (t *teller) rest(things string) {
	if more := t.told - maxTold; more > 0 {
		fmt.Fprintf(os.Stderr, "%s: %d more %s\n", t.kind, more, things)
	}
}

// namedModel adds the names of the settings to the model's errors.
type namedModel struct {
	*openai.Client
	config Config
}

func (m namedModel) Embed(ctx context.Context, model string, inputs []string) ([]vector.Vector, int, error) {
	vectors, tokens, err := m.Client.Embed(ctx, model, inputs)
	switch {
	case errors.Is(err, fault.ErrKey):
		err = fmt.Errorf("the model's provider refuses OPENAI_API_KEY: %w", err)
	case err != nil:
		err = fmt.Errorf("ask the model at OPENAI_BASE_URL, %s: %w", withoutPassword(m.config.OpenAIBaseURL), err)
	}
	return vectors, tokens, err
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Redacted()
}
