package querylog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/backlog"
)

// database records the calls and returns the errors that the test sets.
type database struct {
	mutex  sync.Mutex
	calls  []call
	answer func(ctx context.Context, c call) (deleted int, err error) // nil: success
}

type call struct {
	at        time.Time
	ids       []string
	questions []string
	retention int
}

func (d *database) Call(ctx context.Context, function string, arguments, result any) error {
	if function != "log_queries" {
		return fmt.Errorf("unexpected function %s", function)
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	var given struct {
		Entries []struct {
			QueryID  string `json:"query_id"`
			Question string `json:"question"`
		} `json:"entries"`
		RetentionDays int `json:"retention_days"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	c := call{at: time.Now(), retention: given.RetentionDays}
	for _, e := range given.Entries {
		c.ids, c.questions = append(c.ids, e.QueryID), append(c.questions, e.Question)
	}
	d.mutex.Lock()
	d.calls = append(d.calls, c)
	d.mutex.Unlock()
	deleted := 0
	if d.answer != nil {
		if deleted, err = d.answer(ctx, c); err != nil {
			return err
		}
	}
	return json.Unmarshal(fmt.Appendf(nil, `[{"logged": %d, "deleted": %d}]`, len(c.ids), deleted), result)
}

// writes returns the calls with entries, purges those without.
func (d *database) writes() []call { return d.some(func(c call) bool { return len(c.ids) > 0 }) }
func (d *database) purges() []call { return d.some(func(c call) bool { return len(c.ids) == 0 }) }

func (d *database) some(which func(call) bool) (found []call) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, c := range d.calls {
		if which(c) {
			found = append(found, c)
		}
	}
	return found
}

// warning is a call of Warn.
type warning struct {
	at    time.Time
	lost  int64
	cause error
}

// inBubble runs a log with a fake database in a synctest bubble. It closes the log at the end
// if the test has not.
func inBubble(t *testing.T, answer func(ctx context.Context, c call) (int, error), test func(t *testing.T, l *Log, d *database, warned *[]warning)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, warned := &database{answer: answer}, []warning{}
		l := New(d, Options{RetentionDays: 30, Warn: func(lost int64, cause error) {
			warned = append(warned, warning{time.Now(), lost, cause})
		}})
		synctest.Wait() // the first purge
		test(t, l, d, &warned)
		l.Close(t.Context())
	})
}

func add(l *Log, from, to int) {
	for i := from; i < to; i++ {
		l.Add(Entry{Question: fmt.Sprint(i)})
	}
}

func TestEntriesAreWrittenInBatches(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		started := time.Now()
		add(l, 0, 250)
		time.Sleep(time.Minute)
		synctest.Wait()
		var sizes []int
		var questions []string
		ids := map[string]bool{}
		for _, c := range d.writes() {
			sizes, questions = append(sizes, len(c.ids)), append(questions, c.questions...)
			for _, id := range c.ids {
				ids[id] = true
			}
			if c.retention != 30 || c.at.Sub(started) > linger {
				t.Errorf("entries were written after %v with a retention of %d days", c.at.Sub(started), c.retention)
			}
		}
		if !slices.Equal(sizes, []int{100, 100, 50}) || len(ids) != 250 || questions[0] != "0" || questions[249] != "249" {
			t.Errorf("the batches have %v entries and %d distinct ids", sizes, len(ids))
		}
		if len(*warned) > 0 {
			t.Errorf("there were warnings: %v", *warned)
		}
	})
}

var errDown = errors.New("the database is down")

func TestFailedBatchIsRetried(t *testing.T) {
	failures := 2
	inBubble(t, func(_ context.Context, c call) (int, error) {
		if len(c.ids) > 0 && failures > 0 {
			failures--
			return 0, errDown
		}
		return 0, nil
	}, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		add(l, 0, 3)
		time.Sleep(time.Hour)
		synctest.Wait()
		writes := d.writes()
		if len(writes) != 3 || !slices.Equal(writes[0].ids, writes[2].ids) || len(writes[0].ids) != 3 || len(*warned) > 0 {
			t.Fatalf("the batch was sent %d times, want 3: %v; the warnings are %v", len(writes), writes, *warned)
		}
		if first, second := writes[1].at.Sub(writes[0].at), writes[2].at.Sub(writes[1].at); first != time.Second || second != 2*time.Second {
			t.Errorf("the batch was retried after %v and %v", first, second)
		}
	})
}

func TestLossesAreReportedOnceAMinute(t *testing.T) {
	inBubble(t, func(context.Context, call) (int, error) { return 0, errDown }, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		for i := range 200 {
			add(l, i, i+1)
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Minute)
		l.Close(t.Context())
		told := int64(0)
		for i, w := range *warned {
			if told += w.lost; !errors.Is(w.cause, errDown) || i > 0 && w.at.Sub((*warned)[i-1].at) < backlog.WarnEvery {
				t.Errorf("warning %d: %+v", i, w)
			}
		}
		if told != 200 || len(*warned) < 2 {
			t.Errorf("%d of 200 lost entries were reported, in %d warnings", told, len(*warned))
		}
		if first := d.writes()[0].ids; len(d.some(func(c call) bool { return slices.Equal(c.ids, first) })) != attempts {
			t.Errorf("the first batch was not sent %d times", attempts)
		}
	})
}

// A hanging database does not block Add: calls time out, and entries beyond the queue's size are
// dropped.
func TestHangingDatabaseBlocksNobody(t *testing.T) {
	inBubble(t, func(ctx context.Context, c call) (int, error) {
		if len(c.ids) == 0 {
			return 0, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		started := time.Now()
		add(l, 0, 1)
		time.Sleep(linger + time.Millisecond) // the writer hangs
		add(l, 1, 2000)
		if waited := time.Since(started) - linger - time.Millisecond; waited != 0 {
			t.Errorf("Add blocked for %v", waited)
		}
		time.Sleep(2 * backlog.WarnEvery)
		synctest.Wait()
		writes := d.writes()
		if len(writes) < 2 || writes[1].at.Sub(writes[0].at) != 6*time.Second {
			t.Fatalf("%d calls in two minutes, or the first was not retried after its timeout", len(writes))
		}
		lost := int64(0)
		for _, w := range *warned {
			lost += w.lost
		}
		if lost < 2000-1-queueSize {
			t.Errorf("%d entries were reported as lost, want at least %d", lost, 2000-1-queueSize)
		}
	})
}

func TestCloseWritesQueuedEntries(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		started := time.Now()
		add(l, 0, 250)
		l.Close(t.Context())
		written := 0
		for _, c := range d.writes() {
			written += len(c.ids)
		}
		if written != 250 || time.Since(started) != 0 || len(*warned) > 0 {
			t.Errorf("Close wrote %d of 250 entries in %v", written, time.Since(started))
		}
		add(l, 0, 2)
		l.Close(t.Context())
		if len(*warned) != 1 || (*warned)[0].lost != 2 {
			t.Errorf("after Close the warnings are %v", *warned)
		}
	})
}

// Close retries at once, without waiting for the pause between retries.
func TestCloseEndsAPause(t *testing.T) {
	down := true
	inBubble(t, func(_ context.Context, c call) (int, error) {
		if len(c.ids) > 0 && down {
			down = false
			return 0, errDown
		}
		return 0, nil
	}, func(t *testing.T, l *Log, d *database, warned *[]warning) {
		add(l, 0, 1)
		time.Sleep(linger + time.Millisecond)
		started := time.Now()
		l.Close(t.Context())
		if writes := d.writes(); len(writes) != 2 || time.Since(started) != 0 || len(*warned) > 0 {
			t.Errorf("%d attempts were made, the last %v after Close", len(writes), time.Since(started))
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	inBubble(t, func(ctx context.Context, c call) (int, error) {
		if len(c.ids) == 0 {
			return 0, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}, func(t *testing.T, l *Log, _ *database, warned *[]warning) {
		add(l, 0, 250)
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		l.Close(ctx)
		lost := int64(0)
		for _, w := range *warned {
			if lost += w.lost; !errors.Is(w.cause, context.Canceled) {
				t.Errorf("the warning's cause is %v", w.cause)
			}
		}
		if took := time.Since(started); took != 3*time.Second || lost != 250 {
			t.Errorf("Close took %v, %d entries were reported as lost", took, lost)
		}
	})
}

func TestOldRowsArePurgedWithoutTraffic(t *testing.T) {
	many := 3
	inBubble(t, func(context.Context, call) (int, error) {
		if many--; many >= 0 {
			return purgeLimit, nil
		}
		return 7, nil
	}, func(t *testing.T, l *Log, d *database, _ *[]warning) {
		started := time.Now()
		time.Sleep(2*time.Hour + time.Minute)
		synctest.Wait()
		var after []time.Duration
		for _, c := range d.purges() {
			after = append(after, c.at.Sub(started))
		}
		want := []time.Duration{0, purgeSoon, 2 * purgeSoon, 3 * purgeSoon, 3*purgeSoon + purgeEvery, 3*purgeSoon + 2*purgeEvery}
		if !slices.Equal(after, want) {
			t.Errorf("old rows were deleted after %v, want %v", after, want)
		}
	})
}

func TestNilLogAcceptsEntries(t *testing.T) {
	t.Parallel()
	var l *Log
	l.Add(Entry{})
	l.Close(t.Context())
}
