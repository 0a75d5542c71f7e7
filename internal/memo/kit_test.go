package memo_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"tasklens/internal/memo"
)

// bed is a memo with its dependencies.
type bed struct {
	t *testing.T
	*memo.Memo
	worked int
	counts tally
}

// tally counts results by origin.
type tally struct {
	mutex    sync.Mutex
	byOrigin map[memo.Origin]int
}

func (c *tally) count(_ string, origin memo.Origin) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byOrigin == nil {
		c.byOrigin = map[memo.Origin]int{}
	}
	c.byOrigin[origin]++
}

func (c *tally) expect(t *testing.T, want map[memo.Origin]int) {
	t.Helper()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !maps.Equal(c.byOrigin, want) {
		t.Errorf("the counts are %v, want %v", c.byOrigin, want)
	}
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t}
	b.Memo = memo.New(memo.Store(t), time.Hour, b.counts.count)
	return b
}

// work computes a result that contains how often it was computed.
func (b *bed) work(context.Context) (memo.Made, error) {
	b.worked++
	text := fmt.Sprint("result ", b.worked)
	return memo.Made{Body: []byte(text), Keep: []byte(text + " again")}, nil
}

// expect sends a request and compares the outcome.
func (b *bed) expect(request memo.Request, body string, origin memo.Origin) {
	b.t.Helper()
	made, err := b.Do(b.t.Context(), request, b.work)
	if err != nil || string(made.Body) != body || made.Origin != origin {
		b.t.Errorf("request %+v returned %q with origin %v (%v), want %q with origin %v", request, made.Body, made.Origin, err, body, origin)
	}
}
