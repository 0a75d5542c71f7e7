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
func inBubble(t *testing.T, answer func(ctx context.Context, c call) (int, error), test func(t *testing.T, l *Backlog[Entry], d *database, warned *[]warning)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, warned := &database{answer: answer}, []warning{}
		l := New(d, 30, func(lost int64, cause error) {
			warned = append(warned, warning{time.Now(), lost, cause})
		})
		synctest.Wait() // the first purge
		test(t, l, d, &warned)
		l.Close(t.Context())
	})
}

func add(l *Backlog[Entry], from, to int) {
	for i := from; i < to; i++ {
		l.Add(Entry{Question: fmt.Sprint(i)})
	}
}

func TestEntriesAreWrittenInBatches(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, l *Backlog[Entry], d *database, warned *[]warning) {
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

func TestOldRowsArePurgedWithoutTraffic(t *testing.T) {
	many := 3
	inBubble(t, func(context.Context, call) (int, error) {
		if many--; many >= 0 {
			return purgeLimit, nil
		}
		return 7, nil
	}, func(t *testing.T, l *Backlog[Entry], d *database, _ *[]warning) {
		started := time.Now()
		time.Sleep(2*time.Hour + time.Minute)
		synctest.Wait()
		var after []time.Duration
		for _, c := range d.purges() {
			after = append(after, c.at.Sub(started))
		}
		want := []time.Duration{0, 0, 0, 0, idle, 2 * idle}
		if !slices.Equal(after, want) {
			t.Errorf("old rows were deleted after %v, want %v", after, want)
		}
	})
}

func TestNilLogAcceptsEntries(t *testing.T) {
	t.Parallel()
	var l *Backlog[Entry]
	l.Add(Entry{})
	l.Close(t.Context())
}
