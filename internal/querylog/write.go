package querylog

import (
	"context"
	"fmt"
	"time"
)

const (
	batchSize  = 100
	linger     = 500 * time.Millisecond // that an entry waits for others to be written with
	timeout    = 5 * time.Second        // of one call
	attempts   = 5                      // to write a batch
	firstPause = time.Second            // between attempts; doubled each time
	warnEvery  = time.Minute
	purgeEvery = time.Hour // where nothing is asked, nothing is written that would delete along
	purgeSoon  = time.Second
)

// purgeLimit is how many rows log_queries deletes at most: where it does, there are more.
const purgeLimit = 1000

// run writes what comes until the log is closed, and then what is left.
func (l *Log) run() {
	defer close(l.stopped)
	warning := time.NewTicker(warnEvery)
	defer warning.Stop()
	purge := time.NewTimer(0)
	defer purge.Stop()
	for {
		select {
		case first := <-l.queue:
			l.write(l.gather(first))
			l.warn(warnEvery) // while there is always more to write, the ticker may have no turn
		case <-purge.C:
			// What fails now is tried again with the next entries.
			if deleted, err := l.send(nil); err == nil && deleted >= purgeLimit {
				purge.Reset(purgeSoon)
			} else {
				purge.Reset(purgeEvery)
			}
		case <-warning.C:
			l.warn(warnEvery)
		case <-l.stop:
			for len(l.queue) > 0 {
				l.write(l.gather(<-l.queue))
			}
			return
		}
	}
}

// gather takes what comes within a moment after a first entry, or, when no more will come, what is there.
func (l *Log) gather(first Entry) []Entry {
	batch := []Entry{first}
	enough := time.NewTimer(linger)
	defer enough.Stop()
	for len(batch) < batchSize {
		select {
		case e := <-l.queue:
			batch = append(batch, e)
			continue
		default:
		}
		select {
		case e := <-l.queue:
			batch = append(batch, e)
		case <-enough.C:
			return batch
		case <-l.stop:
			if len(l.queue) == 0 {
				return batch
			}
		}
	}
	return batch
}

// write sends a batch until it is taken, or lost. Sent twice, an entry is written once.
func (l *Log) write(batch []Entry) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		_, err := l.send(batch)
		if err == nil {
			return
		}
		if attempt == attempts || l.ctx.Err() != nil {
			l.lose(len(batch), err)
			return
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-l.stop: // the time that is left is better used
		}
		again.Stop()
		pause *= 2
	}
}

// send has entries written and old rows deleted.
func (l *Log) send(batch []Entry) (deleted int, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	entries := make([]Entry, len(batch))
	for i, e := range batch {
		entries[i] = e.storable()
	}
	var rows []struct {
		Deleted int `json:"deleted"`
	}
	err = l.db.Call(ctx, "log_queries", map[string]any{"entries": entries, "retention_days": l.options.RetentionDays}, &rows)
	if err != nil {
		return 0, fmt.Errorf("log queries: %w", err)
	}
	for _, row := range rows {
		deleted += row.Deleted
	}
	return deleted, nil
}
