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
	linger     = 500 * time.Millisecond // that an entry waits for others to be written with
	timeout    = 5 * time.Second        // of one call
	attempts   = 5                      // to write a batch
	firstPause = time.Second            // between attempts; doubled each time
	purgeEvery = time.Hour              // where nothing is asked, nothing is written that would delete along
	purgeSoon  = time.Second
)

// purgeLimit is how many rows log_queries deletes at most: where it does, there are more.
const purgeLimit = 1000

// run writes what comes until the log is closed and nothing is left.
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
			entries.Tell() // while there is always more to write, the ticker may have no turn
		case <-purge.C:
			// What fails now is tried again with the next entries.
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

// gather takes what comes within a moment after a first entry, or, when no more will come, what is there.
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

// write sends a batch until it is taken, or lost. Sent twice, an entry is written once.
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
		case <-entries.Closing(): // the time that is left is better used
		}
		again.Stop()
		pause *= 2
	}
}

// send has entries written and old rows deleted.
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
