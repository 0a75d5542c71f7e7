package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"tasklens/internal/fault"
	"tasklens/internal/knowledge"
	"tasklens/internal/load"
	"tasklens/internal/openai"
	"tasklens/internal/ticketfile"
	"tasklens/internal/vector"
)

// maxTold is the number of bad rows, and of bad fields, that are printed one by one.
const maxTold = 50

// importFiles imports and indexes a folder or a file. Bad rows and fields are printed with their
// lines; they are an error only if there was no good row. Rows that were refused, or could not be
// stored or indexed, are always an error.
func importFiles(ctx context.Context, args []string) error {
	flags := newFlags("import")
	var options load.Options
	flags.StringVar(&options.Origin, "origin", "", "")
	prefix := flags.String("prefix", "", "")
	flags.BoolVar(&options.TakeOver, "take-over", false, "")
	flags.BoolVar(&options.Prune, "prune", false, "")
	flags.BoolVar(&options.PruneMany, "prune-many", false, "")
	if flags.Parse(args) != nil || flags.NArg() != 1 || options.PruneMany && !options.Prune {
		return errUsage
	}
	if utf8.RuneCountInString(options.Origin) > ticketfile.MaxKey {
		return fmt.Errorf("--origin is longer than %d characters", ticketfile.MaxKey)
	}
	path := flags.Arg(0)
	e, err := newEmbedding()
	if err != nil {
		return err
	}
	if knowledge.HasNotes(path) {
		if options.Prune || options.TakeOver || *prefix != "" {
			return errors.New("--prune, --take-over and --prefix are for tickets: documents have no keys and stay until they are deleted")
		}
		return importNotes(ctx, e, path, options.Origin)
	}
	rows, err := ticketfile.Open(path)
	if err == nil {
		err = rows.SetPrefix(*prefix)
	}
	if err != nil {
		return err
	}
	return importTickets(ctx, e, rows, options)
}

func importTickets(ctx context.Context, e embedding, rows *ticketfile.Reader, options load.Options) error {
	started := time.Now()
	_, size := rows.Progress()
	bar := newBar(size, "importing", true)
	badRows, badFields, failed := teller{kind: "left out", bar: bar}, teller{kind: "warning", bar: bar}, teller{kind: "failed", bar: bar}
	refused, unknown, unlisted := teller{kind: "refused", bar: bar}, teller{kind: "left out", bar: bar}, teller{kind: "not in the files", bar: bar}
	summary, err := load.Load(ctx, e.db, e.indexer, rows, load.Report{
		Began: func(origin string) {
			_ = bar.Clear()
			fmt.Fprintf(os.Stderr, "origin: %s\n", origin)
		},
		BadRow:   func(row *ticketfile.RowError) { badRows.tell(row) },
		BadField: func(field *ticketfile.RowError) { badFields.tell(field) },
		Refused:  func(what string) { refused.tell(errors.New(what)) },
		Failed:   func(err error) { failed.tell(err) },
		Indexed: func(int) {
			done, _ := rows.Progress()
			_ = bar.Set64(done)
		},
		Unknown:  func(link string) { unknown.tell(fmt.Errorf("link %s: one of the tickets is not there", link)) },
		Unlisted: func(what string) { unlisted.tell(errors.New(what)) },
	}, options)
	_ = bar.Finish()
	badRows.rest(badRows.told, "rows")
	badFields.rest(badFields.told, "fields are left out")
	refused.rest(refused.told, "keys")
	failed.rest(failed.told, "failures")
	unknown.rest(summary.Unknown, "links")
	unlisted.rest(summary.Unlisted.Tickets+summary.Unlisted.Comments+summary.Unlisted.Links, "things")
	for _, notice := range rows.Notices() {
		fmt.Fprintln(os.Stderr, notice)
	}
	fmt.Printf("%d projects, %d tickets and %d comments in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d rows, %d fields; %.1f s\n",
		summary.Projects, summary.Tickets, summary.Comments, summary.Chunks, summary.Embedded, summary.Tokens, summary.Reused, summary.BadRows, summary.BadFields,
		time.Since(started).Seconds())
	if summary.Unlisted != (load.Gone{}) {
		advice := ""
		switch {
		case options.Prune:
		case summary.Many():
			advice = fmt.Sprintf(" (that is more than a fifth of the %d tickets of this origin: are the files a part of the export?)", summary.Stored)
		default:
			advice = " (import with --prune to remove them)"
		}
		fmt.Printf("not in the files: %s; removed: %s%s\n", gone(summary.Unlisted), gone(summary.Removed), advice)
	}
	if errors.Is(err, load.ErrNotPruned) {
		if summary.Many() {
			err = fmt.Errorf("%w: --prune --prune-many removes them", err)
		}
		return err
	}
	if err == nil {
		e.fitThreshold(ctx)
	}
	return imported(ctx, err, importOutcome{
		good: summary.Projects + summary.Tickets, bad: summary.BadRows, refusedProjects: summary.RefusedProjects, refusedTickets: summary.RefusedTickets,
		unwritten: summary.Unwritten, unindexed: summary.Unindexed, things: "rows",
	}, failed.last)
}

func gone(g load.Gone) string {
	return fmt.Sprintf("%d tickets, %d comments, %d links", g.Tickets, g.Comments, g.Links)
}

// importOutcome counts the results of an import.
type importOutcome struct {
	good, bad                       int
	refusedProjects, refusedTickets int
	unwritten, unindexed            int
	things                          string
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
	case o.refusedProjects+o.refusedTickets > 0:
		return fmt.Errorf("%d projects and %d tickets are refused, because they are not of this origin: import them under other keys with --prefix, "+
			"name the origin with --origin if these are the same ones, or make them this import's with --take-over", o.refusedProjects, o.refusedTickets)
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

// rest prints how many more of all there were.
func (t *teller) rest(all int, things string) {
	if more := all - min(t.told, maxTold); more > 0 {
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
