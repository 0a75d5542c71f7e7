// Package load writes projects, tickets and documents to the database, which judges them and queues
// them for embedding. It reads them as scripts/convert writes them, and owns the order of rows, the
// size of batches, retries, and the counts of failures. A bad row costs only itself. Rows are
// upserted by their keys or paths, so a second import changes only what differs and an interrupted
// one can be continued. A ticket changes only if its key is new or came from an earlier import of
// the same origin.
package load

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/rpc"
	"tasklens/internal/wait"
)

// Options are what an import may do beyond adding and updating rows of its own.
type Options struct {
	TakeOver  bool // also change projects and tickets of another origin, or of none
	Prune     bool // delete what earlier imports of this origin stored and this one does not list
	PruneMany bool // even more than a fifth of the origin's rows
}

// Report receives events. Trouble names a kind of them, which do not end an import.
type Report struct {
	Began   func(origin string)
	Trouble func(kind string, what error)
	Written func(rows, of int) // so far
}

// Summary counts what was done.
type Summary struct {
	Given     Manifest       // what the rows say of themselves
	Written   map[string]int // or unchanged: projects, tickets, comments, documents, and new documents
	BadRows   int
	BadFields int
	Unwritten int // rows that the database failed to write
	Refused   int // projects and tickets that are not this origin's
	Unknown   int // links that were skipped because a ticket does not exist

	Stored   int  // tickets or documents of this origin in the database, before pruning
	Unlisted Gone // in the database but not in the rows; nothing if these are not all
	Removed  Gone // of these, deleted; nothing without Prune
}

// Sizes of a batch, far below what a gateway accepts and a slow database writes in time. A batch
// that is still too large is halved. The queue embeds 100 rows at once after fresh edits.
const (
	batchRows  = 100
	batchBytes = 1 << 20
)

// Pauses while the database is unreachable, each twice the previous one: 15 s in total, enough for
// a restart.
const (
	firstPause   = time.Second
	longestPause = 8 * time.Second
)

type loader struct {
	db      rpc.Caller
	report  Report
	options Options
	sum     Summary

	id    int64           // of this import of projects and tickets, in the database
	held  map[string]bool // projects that are not this origin's, whose tickets are refused too
	given int             // rows so far, without the manifest
	batch []Row
	bytes int
}

// Load writes all rows. Failures are reported and counted, and the rest continues. It ends early if
// nothing can be stored or the rows cannot be read. Rows written before that stay.
func Load(ctx context.Context, db rpc.Caller, rows iter.Seq2[Row, error], report Report, options Options) (Summary, error) {
	l := &loader{db: db, report: report, options: options, sum: Summary{Written: map[string]int{}}, held: map[string]bool{}}
	for row, err := range rows {
		if err == nil {
			err = l.take(ctx, row)
		}
		if err != nil {
			return l.sum, err
		}
	}
	if err := l.write(ctx); err != nil {
		return l.sum, err
	}
	if said := l.sum.Given.Projects + l.sum.Given.Tickets + l.sum.Given.Documents; said > l.given {
		l.sum.Given.Incomplete = fmt.Sprintf("they are cut off after %d of %d rows", l.given, said)
	}
	if err := l.link(ctx); err != nil {
		return l.sum, err
	}
	return l.sum, l.prune(ctx)
}

// take adds a row to its batch, and writes the batch before if that is full or of another kind. All
// projects are one batch, since the origin depends on them.
func (l *loader) take(ctx context.Context, row Row) error {
	if row.kind == "manifest" {
		if err := json.Unmarshal(row.raw, &l.sum.Given); err != nil {
			return fmt.Errorf("%w: read the manifest at %s: %w", ErrRows, row.place, err)
		}
		return nil
	}
	l.given++
	if isFull := len(l.batch) == batchRows || l.bytes+len(row.raw) > batchBytes; len(l.batch) > 0 && (l.batch[0].kind != row.kind || isFull && row.kind != "projects") {
		if err := l.write(ctx); err != nil {
			return err
		}
	}
	switch {
	case l.held[row.text("project_key")]:
		l.sum.Refused++
		return nil
	case row.fault == "" && l.sum.Given.Restricted != "keep" && row.kind != "projects":
		why, dropped := row.limit()
		for _, what := range dropped {
			l.warn(row, what)
		}
		if why != "" {
			row.fault = "not everybody may read it: " + why
		}
	}
	if row.fault != "" {
		l.skip(row, row.fault)
		return nil
	}
	l.batch, l.bytes = append(l.batch, row), l.bytes+len(row.raw)
	return nil
}

// skip reports and counts a bad row.
func (l *loader) skip(row Row, reason string) {
	l.sum.BadRows++
	l.report.Trouble("left out", row.bad(reason))
}

// warn reports and counts what is left out of a row.
func (l *loader) warn(row Row, what string) {
	l.sum.BadFields++
	l.report.Trouble("warning", row.bad(what))
}

// write writes the batch in parts of a size that the database accepts, and waits for an unreachable
// database. A row that fails on its own is skipped, counted and reported by name. An error ends the
// import.
func (l *loader) write(ctx context.Context) error {
	rows := l.batch
	l.batch, l.bytes = nil, 0
	if len(rows) == 0 {
		return nil
	}
	if err := l.begin(ctx, rows); err != nil {
		return err
	}
	for pause := firstPause; ; pause *= 2 {
		err := index.InBatches(ctx, rows, func(part []Row) (int, error) {
			part = part[:min(len(part), batchRows)] // projects may be more
			if err := l.upsert(ctx, part); err != nil {
				return 0, err
			}
			rows = rows[len(part):]
			l.report.Written(l.sum.Written["tickets"]+l.sum.Written["documents"], l.sum.Given.Tickets+l.sum.Given.Documents)
			return len(part), nil
		}, func(row Row, err error) {
			rows = rows[1:]
			l.sum.Unwritten++
			l.report.Trouble("failed", fmt.Errorf("%s %s is not written: %w", one(row.kind), row.key(), err))
		})
		if fault.CodeOf(err) != fault.Unavailable || pause > longestPause || wait.For(ctx, pause) != nil {
			return err
		}
	}
}

func one(kind string) string { return strings.TrimSuffix(kind, "s") }

// begin finds or adds the origin before its first rows, and gets the import's id.
func (l *loader) begin(ctx context.Context, rows []Row) error {
	switch {
	case rows[0].kind == "documents":
		return l.beginDocuments(ctx, rows)
	case l.id != 0:
		return nil
	}
	var keys []string
	for _, row := range rows {
		keys = append(keys, cmp.Or(row.text("project_key"), row.key()))
	}
	arguments := map[string]any{"format": cmp.Or(l.sum.Given.Format, "jsonl"), "project_keys": keys}
	if l.sum.Given.Origin != "" {
		arguments["origin"] = l.sum.Given.Origin
	}
	begun, err := rpc.One[struct {
		ID     int64  `json:"import_id"`
		Origin string `json:"import_origin"`
	}](ctx, l.db, "begin_import", arguments)
	if err != nil {
		return fmt.Errorf("begin the import: %w", err)
	}
	l.id = begun.ID
	l.report.Began(begun.Origin)
	return nil
}

// upsert writes projects, tickets or documents. The database says of each what became of it.
func (l *loader) upsert(ctx context.Context, rows []Row) error {
	kind, given := rows[0].kind, make([]map[string]json.RawMessage, len(rows))
	for i, row := range rows {
		given[i] = row.members
	}
	arguments := map[string]any{kind: given}
	if kind != "documents" {
		arguments["import_id"], arguments["take_over"] = l.id, l.options.TakeOver
	}
	var all []struct {
		Key        string  `json:"key"`
		Reason     *string `json:"reason"`  // why it is not written
		HeldBy     *string `json:"held_by"` // another origin; "" if what has its key was not imported
		Cut        *string `json:"cut"`     // columns
		CommentIDs []int64 `json:"comment_ids"`
		Created    bool    `json:"created"`
	}
	err := l.db.Call(ctx, "upsert_"+kind, arguments, &all)
	if err == nil && len(all) != len(rows) {
		err = fmt.Errorf("%d rows are returned", len(all))
	}
	if err != nil {
		return fmt.Errorf("write %d %s from %s on: %w", len(rows), kind, rows[0].key(), err)
	}
	for i, row := range all {
		switch {
		case row.Reason != nil:
			l.skip(rows[i], *row.Reason)
			continue
		case row.HeldBy != nil:
			l.sum.Refused++
			reason := "it was not imported"
			if *row.HeldBy != "" {
				reason = "it was imported from " + *row.HeldBy
			}
			if kind == "projects" {
				l.held[row.Key] = true
				reason += "; its tickets are refused too"
			}
			l.report.Trouble("refused", fmt.Errorf("%s %s: %s", one(kind), row.Key, reason))
			continue
		case row.Cut != nil:
			l.warn(rows[i], "cut to what is stored: "+*row.Cut)
		}
		l.sum.Written[kind]++
		l.sum.Written["comments"] += len(row.CommentIDs)
		if row.Created {
			l.sum.Written["new"]++
		}
	}
	return nil
}
