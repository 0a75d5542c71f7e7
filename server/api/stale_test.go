package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// pumps are the tickets of TestNothingIsStale. Each edit increases the number in a name: "Pump 2
// edit 17".
type pumps struct {
	committed [6]atomic.Int64 // of each ticket, the last edit that is certainly committed
	edits     atomic.Int64
	hits      atomic.Int64
	responses atomic.Int64
}

func (c *pumps) name(ticket int, edit int64) string {
	return fmt.Sprintf("Pump %d edit %d", ticket, edit)
}

// write edits tickets, one or two in a transaction, sometimes rolled back.
func (c *pumps) write(ctx context.Context, db *pgx.Conn, random *rand.Rand, mine []int, rounds int) error {
	for range rounds {
		first, second := mine[random.IntN(len(mine))], mine[random.IntN(len(mine))]
		keep := random.IntN(5) > 0
		next := map[int]int64{first: c.committed[first].Load() + 1, second: c.committed[second].Load() + 1}
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			for ticket, edit := range next {
				if _, err := tx.Exec(ctx, `update tickets set name = $2, status_id = 1 + $3 % 2 where key = $1`, key(ticket), c.name(ticket, edit), edit); err != nil {
					return err
				}
			}
			if !keep {
				return errTakenBack
			}
			return nil
		})
		if keep && err != nil {
			return fmt.Errorf("edit: %w", err)
		}
		if keep {
			for ticket, edit := range next {
				c.committed[ticket].Store(edit)
			}
		}
		c.edits.Add(1)
		// Wait for some requests before the next edit, so that something is cached.
		for enough := c.responses.Load() + random.Int64N(12); c.responses.Load() < enough; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	return nil
}

var errTakenBack = errors.New("taken back")

func key(ticket int) string { return fmt.Sprintf("PU-%d", ticket) }

// named is a ticket in a response.
type named struct {
	TicketKey  *string `json:"ticket_key"`
	TicketName *string `json:"ticket_name"`
}

// question returns a request that matches some of the tickets.
func question(s *service, random *rand.Rand) (path string, body map[string]any) {
	of := key(random.IntN(len(pumps{}.committed)))
	switch random.IntN(3) {
	case 0:
		return "/api/query", map[string]any{"question": "Which pump?", "project_id": s.ids["PU"], "match_threshold": 0}
	case 1:
		return "/api/query", map[string]any{"question": "What of " + of + "?", "retrieval": "hybrid"}
	}
	return "/api/hybrid-search", map[string]any{"query": of}
}

// read sends a request to one of the copies, and compares the response with the edits committed
// before.
func (c *pumps) read(s *service, path string, body map[string]any) error {
	var least [6]int64
	for i := range least {
		least[i] = c.committed[i].Load()
	}
	r := s.post(path, body)
	var found struct {
		Cached  bool
		Results []named
		Sources []named
	}
	if err := json.Unmarshal([]byte(r.text), &found); err != nil || r.status != http.StatusOK {
		return fmt.Errorf("%s %v: %d, %w", path, body, r.status, err)
	}
	if c.responses.Add(1); found.Cached {
		c.hits.Add(1)
	}
	shown := append(found.Results, found.Sources...)
	if len(shown) == 0 {
		return fmt.Errorf("%s %v: nothing was found: %s", path, body, r.text)
	}
	for _, ticket := range shown {
		if ticket.TicketKey == nil || !strings.HasPrefix(*ticket.TicketKey, "PU-") {
			continue
		}
		place, _ := strconv.Atoi((*ticket.TicketKey)[3:])
		edit, err := strconv.ParseInt((*ticket.TicketName)[strings.LastIndex(*ticket.TicketName, " ")+1:], 10, 64)
		if err != nil {
			return err
		}
		if edit < least[place] {
			return fmt.Errorf("%s %v: cached %t, %s is shown as of edit %d when edit %d was committed before the request", path, body, found.Cached, *ticket.TicketKey, edit, least[place])
		}
	}
	return nil
}

// No copy of the service returns a response older than the last edit that was committed before the
// request.
func TestNothingIsStale(t *testing.T) {
	t.Parallel()
	one, two, _ := copies(t)
	var c pumps
	var tickets []ticket
	for i := range c.committed {
		tickets = append(tickets, ticket{Key: key(i), Project: "PU", Name: c.name(i, 0)})
	}
	one.index([]project{{Key: "PU", Name: "Pumps"}}, tickets)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var writing atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	const writers = 3
	for writer := range writers {
		db := one.connect()
		writing.Add(1)
		group.Go(func() error {
			defer writing.Add(-1)
			return c.write(ctx, db, rand.New(rand.NewPCG(seed, uint64(writer))), []int{2 * writer, 2*writer + 1}, 30)
		})
	}
	for reader := range 4 {
		s := []*service{one, two}[reader%2]
		group.Go(func() error {
			random := rand.New(rand.NewPCG(seed, uint64(writers+reader)))
			for writing.Load() > 0 && ctx.Err() == nil {
				path, body := question(s, random)
				for range 3 {
					if err := c.read(s, path, body); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d edits, %d responses, %d of them remembered", c.edits.Load(), c.responses.Load(), c.hits.Load())
	if c.hits.Load() == 0 {
		t.Error("nothing was cached, so nothing could be stale")
	}
}
