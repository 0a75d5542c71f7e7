package querylog

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/backlog"
	"tasklens/internal/rescue"
)

const (
	batchSize  = 100
	linger     = 500 * time.Millisecond // how long an entry waits for others to share its batch
	timeout    = 5 * time.Second        // of one call
	attempts   = 5                      // to write a batch
	firstPause = time.Second            // between attempts; doubled each time
	purgeEvery = time.Hour              // in case no entry is written, which deletes old rows too
	purgeSoon  = time.Second
)

// purgeLimit is the maximum number of rows that one call of log_queries deletes. If it deletes that
// many, more may remain.
const purgeLimit = 1000

// run writes entries until the log is closed and the queue is empty.
func (l *Log) run(ctx context.Context, entries *backlog.Backlog[Entry]) {
	warning := time.NewTicker(backlog.WarnEvery)
	defer warning.Stop()
	purge := time.NewTimer(0)
	defer purge.Stop()
	for {
		select {
		case first, more := <-entries.Waiting():
			if !more {
				return
			}
			l.write(ctx, entries, gather(entries, first))
			entries.Tell() // under constant load the ticker may never be selected
		case <-purge.C:
			// A failure is retried with the next entries.
			if deleted, err := l.send(ctx, nil); err == nil && deleted >= purgeLimit {
				purge.Reset(purgeSoon)
			} else {
				purge.Reset(purgeEvery)
			}
		case <-warning.C:
			entries.Tell()
		}
	}
}

// gather collects the entries that arrive shortly after the first one, or those present if the log
// is closed.
func gather(entries *backlog.Backlog[Entry], first Entry) []Entry {
	batch := []Entry{first}
	enough := time.NewTimer(linger)
	defer enough.Stop()
	for len(batch) < batchSize {
		select {
		case e, more := <-entries.Waiting():
			if !more {
				return batch
			}
			batch = append(batch, e)
			continue
		default:
		}
		select {
		case e, more := <-entries.Waiting():
			if !more {
				return batch
			}
			batch = append(batch, e)
		case <-enough.C:
			return batch
		}
	}
	return batch
}

// write retries a batch until it is stored or given up. Entries have ids, so a repeated call stores
// each of them once.
func (l *Log) write(ctx context.Context, entries *backlog.Backlog[Entry], batch []Entry) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		_, err := l.send(ctx, batch)
		if err == nil {
			return
		}
		if attempt == attempts || ctx.Err() != nil {
			entries.Lose(len(batch), err)
			return
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-entries.Closing(): // do not spend the time that is left on a pause
		}
		again.Stop()
		pause *= 2
	}
}

// send stores entries and deletes old rows.
func (l *Log) send(ctx context.Context, batch []Entry) (deleted int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	entries := make([]Entry, len(batch))
	for i, e := range batch {
		entries[i] = e.storable()
	}
	var rows []struct {
		Deleted int `json:"deleted"`
	}
	err = rescue.Do(func() error {
		return l.db.Call(ctx, "log_queries", map[string]any{"entries": entries, "retention_days": l.retention}, &rows)
	})
	if err != nil {
		return 0, fmt.Errorf("log queries: %w", err)
	}
	for _, row := range rows {
		deleted += row.Deleted
	}
	return deleted, nil
}
