package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/testbed"
)

// han returns a text of this many Chinese characters, with a full stop after every 40.
func han(seed uint64, characters int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	for i := range characters {
		if i%40 == 39 {
			text.WriteRune('。')
		} else {
			text.WriteRune(rune(0x4e00 + random.IntN(5000)))
		}
	}
	return text.String()
}

// mustHaveEmbeddedOnce fails if the model was sent an input twice.
func (b *bench) mustHaveEmbeddedOnce() {
	b.t.Helper()
	seen := map[string]bool{}
	for _, inputs := range b.model.requests() {
		for _, input := range inputs {
			if seen[input] {
				b.t.Errorf("%.60q was embedded twice", input)
			}
			seen[input] = true
		}
	}
}

// Many tickets, one of some hundred chunks, and a document as long, in a database that takes
// longer for them than the statement timeout of the role: all are stored, nothing is embedded
// twice, and no attempt fails.
func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	b := newSlowBench(t)
	b.fill(110)
	b.run(`update public.tickets set description = $1 where name = 'Pump 7'`, han(1, 40_000))
	b.run(`insert into public.documents (title, content) values ('Runbook', $1)`, han(2, 40_000))
	o := quick(t)
	o.Attempts = 1
	b.start(o)
	b.await(0, openJobs)
	b.await(0, deadJobs)
	if got := b.number(`select count(*) from public.chunks where ticket_id = (select ticket_id from public.tickets where name = 'Pump 7')`); got < 100 {
		t.Errorf("the long ticket has %d chunks, want at least 100", got)
	}
	if got := b.number(`select count(*) from public.document_chunks c join public.embeddings e using (chunk_id)`); got < 100 {
		t.Errorf("the long document has %d chunks, want at least 100", got)
	}
	b.mustHaveEmbeddedOnce()
	b.mustBeCurrent()
}

// While a long text is replaced, a reader finds the old or the new one, never both or none.
func TestLongTextIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	b := newSlowBench(t)
	edition := func(n int) string {
		return strings.ReplaceAll(han(uint64(n), 40_000), "。", fmt.Sprintf(" edition %d. ", n))
	}
	b.fill(1)
	b.run(`update public.tickets set description = $1`, edition(1))
	stop := b.start(quick(t))
	b.await(0, openJobs)
	stop()
	before := b.number(`select count(*) from public.chunks where text like '%edition 1%'`)

	b.run(`update public.tickets set description = $1`, edition(2))
	reader := testbed.Connect(t, b.database.OwnerURL)
	looks, replaced := 0, false
	b.start(quick(t))
	for deadline := time.Now().Add(patience); !replaced && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		looks++
		var old, fresh int
		err := reader.QueryRow(t.Context(), `select count(*) filter (where text like '%edition 1%'), count(*) filter (where text like '%edition 2%')
			from public.chunks where ticket_id is not null`).Scan(&old, &fresh)
		replaced = fresh > 0
		if err != nil || old > 0 && fresh > 0 || old == 0 && fresh == 0 || old > 0 && old != before {
			t.Fatalf("a reader sees %d old and %d new chunks: %v", old, fresh, err)
		}
	}
	b.await(0, openJobs)
	if looks < 50 {
		t.Errorf("the text was replaced within %d reads", looks)
	}
	b.mustBeCurrent()
}

// Editors of a ticket in the same batch do not wait for a long one: it is stored after the others,
// whose jobs end first.
func TestLongTicketDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long, goOn := make(chan struct{}), make(chan struct{})
	come := sync.OnceFunc(func() { close(long) })
	b.model.before = func(ctx context.Context, _ string, inputs []string) error {
		if len(inputs) < 40 { // a batch of the short ones has fewer
			return nil
		}
		come()
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.fill(20)
	b.run(`update public.tickets set description = $1 where name = 'Pump 7'`, han(4, 40_000))
	o := quick(t)
	o.Concurrency = 1
	b.start(o)
	<-long
	b.await(1, `select count(distinct source_id) from tasklens.embedding_jobs where dead_at is null`)
	close(goOn)
	b.await(0, openJobs)
	b.mustBeCurrent()
}
