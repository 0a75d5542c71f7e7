package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"tasklens/internal/fault"
	"tasklens/internal/load"
	"tasklens/internal/openai"
	"tasklens/internal/ticketfile"
	"tasklens/internal/vector"
)

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
	if load.HasNotes(path) {
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

func importTickets(ctx context.Context, e embedding, files *ticketfile.Reader, options load.Options) error {
	started := time.Now()
	_, size := files.Progress()
	out := newImportOutput(newBar(size, "importing", true))
	report := out.report()
	report.Indexed = func(int) {
		done, _ := files.Progress()
		_ = out.bar.Set64(done)
	}
	sum, err := load.Load(ctx, e.db, e.indexer, files, report, options)
	out.finish()
	for _, notice := range files.Notices() {
		fmt.Fprintln(os.Stderr, notice)
	}
	fmt.Printf("%d projects, %d tickets and %d comments in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d rows, %d fields, %d links; %.1f s\n",
		sum.Projects, sum.Tickets, sum.Comments, sum.Chunks, sum.Embedded, sum.Tokens, sum.Reused, sum.BadRows, sum.BadFields, sum.Unknown,
		time.Since(started).Seconds())
	if sum.Unlisted != (load.Gone{}) {
		advice := ""
		switch {
		case options.Prune:
		case sum.Many():
			advice = fmt.Sprintf(" (that is more than a fifth of the %d tickets of this origin: are the files a part of the export?)", sum.Stored)
		default:
			advice = " (import with --prune to remove them)"
		}
		fmt.Printf("not in the files: %s; removed: %s%s\n", gone(sum.Unlisted), gone(sum.Removed), advice)
	}
	if errors.Is(err, load.ErrNotPruned) {
		if sum.Many() {
			err = fmt.Errorf("%w: --prune --prune-many removes them", err)
		}
		return err
	}
	if err == nil {
		e.fitThreshold(ctx)
	}
	if err = imported(ctx, err, sum.Counts, out.lastFailure); err != nil {
		return err
	}
	switch good := sum.Projects + sum.Tickets; {
	case sum.RefusedProjects+sum.RefusedTickets > 0:
		return fmt.Errorf("%d projects and %d tickets are refused, because they are not of this origin: import them under other keys with --prefix, "+
			"name the origin with --origin if these are the same ones, or make them this import's with --take-over", sum.RefusedProjects, sum.RefusedTickets)
	case good == 0 && sum.BadRows > 0:
		return fmt.Errorf("nothing was imported: none of %d rows is good", sum.BadRows)
	}
	return nil
}

func gone(g load.Gone) string {
	return fmt.Sprintf("%d tickets, %d comments, %d links", g.Tickets, g.Comments, g.Links)
}

// imported returns why an import of any kind is incomplete. cause explains what is missing.
func imported(ctx context.Context, err error, counts load.Counts, cause error) error {
	missing := fmt.Sprintf("not written: %d (import them again); written but not indexed: %d (workers, or another import, do it)",
		counts.Unwritten, counts.Unindexed)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: written rows stay, and the next import continues from there")
	case err != nil:
		return fmt.Errorf("ended early, because nothing more could be stored; the next import continues from there (%s): %w", missing, err)
	case counts.Unwritten+counts.Unindexed > 0:
		return fmt.Errorf("%s: %w", missing, cause)
	}
	return nil
}

// importOutput prints the events of an import.
type importOutput struct {
	bar         *progressbar.ProgressBar // cleared while a line is printed
	printed     map[load.Trouble]int
	lastFailure error
}

func newImportOutput(bar *progressbar.ProgressBar) *importOutput {
	return &importOutput{bar: bar, printed: map[load.Trouble]int{}}
}

// maxPrinted is the number of events of a kind that are printed one by one.
const maxPrinted = 50

func (o *importOutput) report() load.Report {
	return load.Report{
		Began: func(origin string) { o.print("origin: %s", origin) },
		Trouble: func(kind load.Trouble, what error) {
			if kind == load.Failed {
				o.lastFailure = what
			}
			if o.printed[kind]++; o.printed[kind] <= maxPrinted {
				o.print("%s: %v", kind, what)
			}
		},
		Indexed: func(count int) { _ = o.bar.Add(count) },
	}
}

func (o *importOutput) print(format string, args ...any) {
	_ = o.bar.Clear()
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// finish says how many events were not printed.
func (o *importOutput) finish() {
	_ = o.bar.Finish()
	for _, kind := range slices.Sorted(maps.Keys(o.printed)) {
		if more := o.printed[kind] - maxPrinted; more > 0 {
			o.print("%s: %d more", kind, more)
		}
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
