package load

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/wait"
)

// Sizes of a batch, far below what a gateway accepts and a slow database writes in time. A batch
// that is still too large is halved. The queue embeds 100 rows at once after fresh edits.
const (
	batchRows  = 100
	batchBytes = 1 << 20 // of texts
)

// batch collects rows and writes them when it is full.
type batch[T any] struct {
	rows  []T
	bytes int
	write func([]T) error
}

func (b *batch[T]) add(row T, bytes int) error {
	if len(b.rows) == batchRows || b.bytes+bytes > batchBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.rows, b.bytes = append(b.rows, row), b.bytes+bytes
	return nil
}

func (b *batch[T]) flush() error {
	rows := b.rows
	if b.rows, b.bytes = nil, 0; len(rows) == 0 {
		return nil
	}
	return b.write(rows)
}

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

// Pauses while the database is unreachable, each twice the previous one: 15 s in total, enough for
// a restart.
const (
	firstPause   = time.Second
	longestPause = 8 * time.Second
)

// write writes rows in batches of a size that the database accepts, and waits for an unreachable
// database. A row that fails on its own is skipped, counted and reported by name. An error ends the
// import.
func write[T any](ctx context.Context, w *writer, rows []T, name func(T) string, do func([]T) error) error {
	for pause := firstPause; ; pause *= 2 {
		err := index.InBatches(ctx, rows, func(part []T) (int, error) {
			if err := do(part); err != nil {
				return 0, err
			}
			rows = rows[len(part):]
			return len(part), nil
		}, func(row T, err error) {
			rows = rows[1:]
			w.sum.Unwritten++
			w.report.Trouble(Failed, fmt.Errorf("%s is not written: %w", name(row), err))
		})
		if fault.CodeOf(err) != fault.Unavailable || pause > longestPause || wait.For(ctx, pause) != nil {
			return err
		}
	}
}
