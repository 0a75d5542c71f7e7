package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/load"
	"tasklens/internal/worker"
)

// importRows imports JSON Lines and embeds what the queue holds then. Bad rows and fields are
// printed with their lines. They are an error at the end, as is what was refused, or could not be
// stored or embedded, and what the files lack.
func importRows(ctx context.Context, args []string) error {
	flags := newFlags("import", "FOLDER | -")
	var options load.Options
	flags.BoolVar(&options.TakeOver, "take-over", false, "change projects and tickets that are not of this origin, instead of refusing them")
	flags.BoolVar(&options.Prune, "prune", false, "delete what earlier imports of this origin loaded and the rows no longer contain")
	flags.BoolVar(&options.PruneMany, "prune-many", false, "with --prune: even more than a fifth of the origin's tickets")
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	path := flags.Arg(0)
	switch info, err := os.Stat(path); {
	case options.PruneMany && !options.Prune:
		return fmt.Errorf("%w: --prune-many goes with --prune", errUsage)
	case path == "":
		return fmt.Errorf("%w: name what to import: a folder of JSON Lines, or - for standard input", errUsage)
	case path == "-":
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case !info.IsDir() || !slices.ContainsFunc(load.Files, func(name string) bool { _, err := fs.Stat(os.DirFS(path), name); return err == nil }):
		return fmt.Errorf("%w: %s is not a folder of JSON Lines (%s). Convert other forms: tasklens-convert %[2]s | tasklens import -, or in a checkout ./scripts/import %[2]s",
			errUsage, path, strings.Join(load.Files, ", "))
	}
	e, err := newEmbedding(ctx)
	if err != nil {
		return err
	}
	if err := e.tryModel(ctx); err != nil {
		return err
	}
	started, out := time.Now(), &importOutput{progress: newProgress("importing"), counts: map[string]int{}, first: map[string][]error{}}
	sum, err := load.Load(ctx, e.db, load.Rows(path), load.Report{
		Began:   func(origin string) { out.print("origin: %s", origin) },
		Trouble: out.add,
		Written: func(rows, of int) { out.show(int64(rows), int64(of), int64(rows)) },
	}, options)
	out.finish()
	seconds, unread := time.Since(started).Seconds(), sum.BadRows+sum.Given.LeftOut
	if n := sum.Written["documents"]; n > 0 || len(sum.Given.Paths) > 0 {
		fmt.Printf("%d documents (%d new); left out: %d files, %d fields; without a file: %d, removed: %d; %.1f s\n",
			n, sum.Written["new"], unread, sum.BadFields+sum.Given.Fields, sum.Unlisted.Documents, sum.Removed.Documents, seconds)
	} else {
		fmt.Printf("%d projects, %d tickets and %d comments; left out: %d rows, %d fields, %d links; repeated: %d rows; %.1f s\n",
			sum.Written["projects"], sum.Written["tickets"], sum.Written["comments"], unread, sum.BadFields+sum.Given.Fields, sum.Unknown, sum.Given.Repeated, seconds)
	}
	if sum.Unlisted != (load.Gone{Documents: sum.Unlisted.Documents}) {
		advice := " (import with --prune to remove them)"
		switch {
		case options.Prune:
			advice = ""
		case sum.Many():
			advice = fmt.Sprintf(" (that is more than a fifth of the %d tickets of this origin: are the files a part of the export?)", sum.Stored)
		}
		fmt.Printf("not in the files: %s; removed: %s%s\n", sum.Unlisted, sum.Removed, advice)
	}
	return e.finishImport(ctx, sum, err, out.failure)
}

// finishImport embeds what was written, and returns why an import is incomplete. failure says why
// the last row was not written.
func (e embedding) finishImport(ctx context.Context, sum load.Summary, err, failure error) error {
	good, given := sum.Written["projects"]+sum.Written["tickets"]+sum.Written["documents"], sum.Given
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: written rows stay, and the next import continues from there")
	case errors.Is(err, load.ErrRows):
		return err
	case err != nil && !errors.Is(err, load.ErrNotPruned):
		return fmt.Errorf("ended early, because nothing more could be stored; the next import continues from there: %w", err)
	case good == 0 && sum.BadRows+given.LeftOut > 0:
		return fmt.Errorf("nothing was imported: none of %d rows is good", sum.BadRows+given.LeftOut)
	case err != nil && sum.Many():
		err = fmt.Errorf("%w: --prune --prune-many removes them", err)
	}
	if given.Incomplete != "" && err == nil {
		err = errors.New("the files are incomplete: " + given.Incomplete)
	}
	fail := func(is bool, format string, args ...any) {
		if is {
			err = errors.Join(err, fmt.Errorf(format, args...))
		}
	}
	rows, fields := sum.BadRows+given.LeftOut, sum.BadFields+given.Fields
	fail(sum.Unwritten > 0, "not written: %d (import them again): %w", sum.Unwritten, failure)
	fail(rows+fields > 0, "left out, as named above: %d rows or files, %d fields", rows, fields)
	fail(good+rows+sum.Unwritten+sum.Refused == 0, "the files hold nothing to import")
	err = errors.Join(err, e.embedImported(ctx))
	fail(sum.Refused > 0, "%d projects and tickets are refused, because they are not of this origin: import them under other keys with --prefix, "+
		"name the origin with --origin if these are the same ones, or make them this import's with --take-over", sum.Refused)
	if stats, failed := enrich.ReadStats(ctx, e.db); sum.Written["documents"] > 0 && failed == nil && stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich extracts their names and keywords\n", stats.Unenriched)
	}
	return err
}

// embedPatience is how long an import waits while nothing is embedded: for a provider, longer if it
// is slow, or for the lease of a worker that died.
var embedPatience = 70 * time.Second

// slowBatch is how many requests of MODEL_TIMEOUT a batch takes while a slow server shows how many
// inputs it embeds in that time.
const slowBatch = 4

// embedImported works on the queue until it is empty, and ends early without progress.
func (e embedding) embedImported(ctx context.Context) error {
	least, progressed := -1, time.Now()
	err := e.workOff(ctx, func(status worker.Status) (bool, error) {
		if left := left(status); left < least || least < 0 {
			least, progressed = left, time.Now()
		}
		switch {
		case left(status) == 0:
			return true, nil
		case time.Since(progressed) < max(embedPatience, slowBatch*e.config.ModelTimeout):
			return false, nil
		}
		return true, fmt.Errorf("written but not embedded: %d (workers, or another import, do it)", left(status))
	})
	if err == nil {
		e.fitThreshold(ctx)
	}
	return err
}

// importOutput collects the events of an import, and prints those of a kind together.
type importOutput struct {
	*progress
	counts  map[string]int
	first   map[string][]error // of a kind
	failure error              // the last of a row that was not written
}

const maxExamples = 20 // of a kind

func (o *importOutput) add(kind string, what error) {
	if kind == "failed" {
		o.failure = what
	}
	if o.counts[kind]++; o.counts[kind] <= maxExamples {
		o.first[kind] = append(o.first[kind], what)
	}
}

func (o *importOutput) finish() {
	o.progress.finish()
	for _, kind := range slices.Sorted(maps.Keys(o.counts)) {
		for _, what := range o.first[kind] {
			o.print("%s: %v", kind, what)
		}
		if more := o.counts[kind] - maxExamples; more > 0 {
			o.print("%s: %d more", kind, more)
		}
	}
}
