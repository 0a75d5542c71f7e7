package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/ticketfile"
	"tasklens/internal/wait"
)

// Sizes of a batch, far below what a gateway accepts and a slow database writes in time. A batch
// that is still too large is halved. The queue embeds 100 rows at once after fresh edits.
const (
	batchRows  = 100
	batchBytes = 1 << 20 // of texts
)

// writer writes rows, reports events and counts.
type writer struct {
	db     Database
	report Report
	sum    Summary
}

// skip reports and counts a bad row or file.
func (w *writer) skip(err error) {
	w.sum.BadRows++
	w.report.Trouble(LeftOut, err)
}

// warn reports and counts a field that was cut or left out.
func (w *writer) warn(about *ticketfile.RowError) {
	w.sum.BadFields++
	w.report.Trouble(Warning, about)
}

// isBad skips a bad row. Another error ends the import.
func (w *writer) isBad(err error) bool {
	row, is := errors.AsType[*ticketfile.RowError](err)
	if is {
		w.skip(row)
	}
	return is
}

// kind is how rows of a kind are written.
type kind[T any] struct {
	name    func(T) string
	size    func(T) int  // bytes of texts
	accepts func(T) bool // whether the row is written at all
	upsert  func(context.Context, []T) error
}

// writeAll writes rows in their order, so that their ids have it too, as they are read.
func writeAll[T any](ctx context.Context, w *writer, rows iter.Seq2[T, error], kind kind[T]) error {
	var batch []T
	bytes := 0
	for row, err := range rows {
		if w.isBad(err) || err == nil && !kind.accepts(row) {
			continue
		}
		if err != nil {
			return err
		}
		if len(batch) == batchRows || bytes+kind.size(row) > batchBytes {
			if err := write(ctx, w, batch, kind); err != nil {
				return err
			}
			batch, bytes = nil, 0
		}
		batch, bytes = append(batch, row), bytes+kind.size(row)
	}
	return write(ctx, w, batch, kind)
}

// Pauses while the database is unreachable, each twice the previous one: 15 s in total, enough for
// a restart.
const (
	firstPause   = time.Second
	longestPause = 8 * time.Second
)

// write writes rows in batches of a size that the database accepts, and waits for an unreachable
// database. A row that fails on its own is skipped, counted and reported by name. An error ends the
// import.
func write[T any](ctx context.Context, w *writer, rows []T, kind kind[T]) error {
	for pause := firstPause; ; pause *= 2 {
		err := index.InBatches(ctx, rows, func(part []T) (int, error) {
			if err := kind.upsert(ctx, part); err != nil {
				return 0, err
			}
			rows = rows[len(part):]
			return len(part), nil
		}, func(row T, err error) {
			rows = rows[1:]
			w.sum.Unwritten++
			w.report.Trouble(Failed, fmt.Errorf("%s is not written: %w", kind.name(row), err))
		})
		if fault.CodeOf(err) != fault.Unavailable || pause > longestPause || wait.For(ctx, pause) != nil {
			return err
		}
	}
}
