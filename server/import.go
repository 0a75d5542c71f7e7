package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tasklens/internal/enrich"
	"tasklens/internal/load"
	"tasklens/internal/ticketfile"
	"tasklens/internal/worker"
)

// importFiles imports a folder or a file and embeds what the queue holds then. Bad rows and fields
// are printed with their lines. They are an error at the end, as is what was refused, or could not
// be stored or embedded, and what the files lack.
func importFiles(ctx context.Context, args []string) error {
	flags := newFlags("import", "PATH…")
	var options load.Options
	flags.StringVar(&options.Origin, "origin", "", "`name` of the export that the files are a copy of, if they do not say it")
	prefix := flags.String("prefix", "", "`text` before all keys of the files")
	text := flags.String("text", ticketfile.DefaultText, "`columns` to keep at the end of the description")
	labels := flags.String("labels", "", "`columns` to keep as labels")
	flags.BoolVar(&options.TakeOver, "take-over", false, "change projects and tickets that are not of this origin, instead of refusing them")
	flags.BoolVar(&options.Prune, "prune", false, "delete what earlier imports of this origin loaded and the files no longer contain")
	flags.BoolVar(&options.PruneMany, "prune-many", false, "with --prune: even more than a fifth of the origin's tickets")
	flags.StringVar(&options.Language, "language", "", "`language` of the projects, as Postgres names it (german), where the files do not say it")
	restricted := flags.String("restricted", "", "`keep` or omit what only some may see in the tracker, or by its front matter")
	switch err := parse(flags, args, math.MaxInt); {
	case err != nil:
		return err
	case flags.NArg() == 0:
		return fmt.Errorf("%w: name what to import", errUsage)
	case options.PruneMany && !options.Prune:
		return fmt.Errorf("%w: --prune-many goes with --prune", errUsage)
	case !slices.Contains([]string{"", ticketfile.Keep, ticketfile.Omit}, *restricted):
		return fmt.Errorf("%w: --restricted is %s or %s, not %q", errUsage, ticketfile.Keep, ticketfile.Omit, *restricted)
	}
	if utf8.RuneCountInString(options.Origin) > ticketfile.MaxKey {
		return fmt.Errorf("%w: --origin is longer than %d characters", errUsage, ticketfile.MaxKey)
	}
	paths := flags.Args()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	notes := slices.ContainsFunc(paths, load.HasNotes)
	if notes && (len(paths) > 1 || options.TakeOver || *prefix != "") {
		return fmt.Errorf("%w: documents are imported from one path, without --take-over and --prefix: they have no keys", errUsage)
	}
	if info, err := os.Stat(paths[0]); notes && options.Prune && (err != nil || !info.IsDir()) {
		return fmt.Errorf("%w: --prune requires the whole folder of documents", errUsage)
	}
	if notes {
		e, err := newEmbedding(ctx)
		if err != nil {
			return err
		}
		return e.importNotes(ctx, paths[0], *restricted, options)
	}
	rows, err := ticketfile.Open(paths...)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if beside, err := load.OpenNotes(path); err == nil && len(beside.Files) > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d Markdown files beside the exports are left out (documents are imported from a path of their own)\n", path, len(beside.Files))
		}
	}
	if err := rows.SetPrefix(*prefix); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	rows.Restricted = *restricted
	rows.Keep(ticketfile.Kept{Text: strings.Split(*text, ","), Labels: strings.Split(*labels, ",")})
	e, err := newEmbedding(ctx)
	if err != nil {
		return err
	}
	return e.importTickets(ctx, rows, options)
}

func (e embedding) importTickets(ctx context.Context, files *ticketfile.Reader, options load.Options) error {
	if err := e.tryModel(ctx); err != nil {
		return err
	}
	started := time.Now()
	out := newImportOutput()
	sum, err := load.Load(ctx, e.db, files, out.report(files.Len), options)
	out.finish()
	for _, notice := range files.Notices() {
		fmt.Fprintln(os.Stderr, notice)
	}
	fmt.Printf("%d projects, %d tickets and %d comments; left out: %d rows, %d fields, %d links; repeated: %d rows; %.1f s\n",
		sum.Projects, sum.Tickets, sum.Comments, sum.BadRows, sum.BadFields, sum.Unknown, sum.Repeated, time.Since(started).Seconds())
	if sum.Unlisted != (load.Gone{}) {
		advice := " (import with --prune to remove them)"
		switch {
		case options.Prune:
			advice = ""
		case sum.Many():
			advice = fmt.Sprintf(" (that is more than a fifth of the %d tickets of this origin: are the files a part of the export?)", sum.Stored)
		}
		fmt.Printf("not in the files: %s; removed: %s%s\n", gone(sum.Unlisted), gone(sum.Removed), advice)
	}
	if errors.Is(err, load.ErrNotPruned) && sum.Many() {
		err = fmt.Errorf("%w: --prune --prune-many removes them", err)
	}
	if err := e.finishImport(ctx, sum, err, out.failure); err != nil {
		return err
	}
	if sum.RefusedProjects+sum.RefusedTickets > 0 {
		return fmt.Errorf("%d projects and %d tickets are refused, because they are not of this origin: import them under other keys with --prefix, "+
			"name the origin with --origin if these are the same ones, or make them this import's with --take-over", sum.RefusedProjects, sum.RefusedTickets)
	}
	return nil
}

func gone(g load.Gone) string {
	return fmt.Sprintf("%d tickets, %d comments, %d links", g.Tickets, g.Comments, g.Links)
}

// importNotes imports a folder of Markdown files as documents. The same path in the same origin,
// which is the folder's name by default, is the same document.
func (e embedding) importNotes(ctx context.Context, path, restricted string, options load.Options) error {
	notes, err := load.OpenNotes(path)
	if err != nil {
		return err
	}
	notes.Name, notes.Restricted = cmp.Or(options.Origin, notes.Name), restricted
	if err := e.tryModel(ctx); err != nil {
		return err
	}
	started := time.Now()
	out := newImportOutput()
	out.progress.print("origin: %s", notes.Name)
	if notes.Links != nil {
		out.progress.print("%s", notes.Links)
	}
	sum, err := load.LoadNotes(ctx, e.db, notes, out.report(notes.Len), options)
	out.finish()
	fmt.Printf("%d documents (%d new); left out: %d files, %d fields; without a file: %d, removed: %d; %.1f s\n", sum.Documents, sum.NewDocuments, sum.BadRows, sum.BadFields,
		sum.Unlisted.Documents, sum.Removed.Documents, time.Since(started).Seconds())
	if err := e.finishImport(ctx, sum, err, out.failure); err != nil {
		return err
	}
	if stats, err := enrich.ReadStats(ctx, e.db); err != nil {
		return err
	} else if stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich extracts their names and keywords\n", stats.Unenriched)
	}
	return nil
}

// finishImport embeds what was written, and returns why an import is incomplete. failure says why
// the last row was not written.
func (e embedding) finishImport(ctx context.Context, sum load.Summary, err, failure error) error {
	switch good := sum.Projects + sum.Tickets + sum.Documents; {
	case ctx.Err() != nil:
		return errors.New("interrupted: written rows stay, and the next import continues from there")
	case errors.Is(err, ticketfile.ErrFiles):
		return err
	case err != nil && !errors.Is(err, load.ErrNotPruned):
		return fmt.Errorf("ended early, because nothing more could be stored; the next import continues from there: %w", err)
	case good == 0 && sum.BadRows > 0:
		return fmt.Errorf("nothing was imported: none of %d rows is good", sum.BadRows)
	}
	if sum.Unwritten > 0 {
		err = errors.Join(err, fmt.Errorf("not written: %d (import them again): %w", sum.Unwritten, failure))
	}
	if sum.Incomplete != "" && err == nil {
		err = errors.New("the files are incomplete: " + sum.Incomplete)
	}
	if sum.BadRows+sum.BadFields > 0 {
		err = errors.Join(err, fmt.Errorf("left out, as named above: %d rows or files, %d fields", sum.BadRows, sum.BadFields))
	}
	if sum.Tickets+sum.Documents+sum.BadRows+sum.Unwritten+sum.RefusedProjects+sum.RefusedTickets == 0 {
		err = errors.Join(err, errors.New("the files hold nothing to import"))
	}
	return errors.Join(err, e.embedImported(ctx))
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

// importOutput prints the events of an import: those of a kind together, at the end.
type importOutput struct {
	progress *progress
	rows     int64
	counts   map[troubles]int
	first    map[troubles][]error
	failure  error // the last
}

// troubles are events that differ in names and numbers only.
type troubles struct {
	kind    load.Trouble
	pattern string
}

const (
	maxExamples = 5   // of a group
	maxGroups   = 200 // then further ones are one of each kind
)

func newImportOutput() *importOutput {
	return &importOutput{progress: newProgress("importing"), counts: map[troubles]int{}, first: map[troubles][]error{}}
}

func (o *importOutput) report(total func() int) load.Report {
	return load.Report{
		Began:   func(origin string) { o.progress.print("origin: %s", origin) },
		Trouble: o.add,
		Written: func(rows int) {
			o.rows += int64(rows)
			o.progress.show(o.rows, int64(total()), o.rows)
		},
	}
}

var particular = regexp.MustCompile(`"[^"]*"…?|\S*[0-9]\S*`)

func (o *importOutput) add(kind load.Trouble, what error) {
	message := what.Error()
	if row, is := errors.AsType[*ticketfile.RowError](what); is {
		message = row.Reason
	}
	if kind == load.Failed {
		o.failure = what
	}
	group := troubles{kind, particular.ReplaceAllString(message, "…")}
	if len(o.counts) >= maxGroups && o.counts[group] == 0 {
		group.pattern = ""
	}
	if o.counts[group]++; o.counts[group] <= maxExamples {
		o.first[group] = append(o.first[group], what)
	}
}

// finish prints the events, with some examples of each group.
func (o *importOutput) finish() {
	o.progress.finish()
	for _, group := range slices.SortedFunc(maps.Keys(o.counts), func(a, b troubles) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.pattern, b.pattern))
	}) {
		for _, what := range o.first[group] {
			o.progress.print("%s: %v", group.kind, what)
		}
		if more := o.counts[group] - maxExamples; more > 0 {
			o.progress.print("%s: %d more like these", group.kind, more)
		}
	}
}
