package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// trustTime is how long an idle connection is assumed to be alive.
	trustTime = time.Second
	// farewellTime is the timeout of closing a connection.
	farewellTime = time.Second
)

var errPoolBusy = errors.New("no connection became free")

// pool lends sessions, the most recently used first, because it has the most prepared statements. A
// session serves one request at a time.
type pool struct {
	config   *pgconn.Config
	patience time.Duration // how long acquire waits for a slot
	slots    chan struct{} // one per lent session

	mu         sync.Mutex
	idle       []*session
	generation int // sessions of older generations are closed on release
	closing    sync.Once
}

func newPool(config *pgconn.Config, size int) *pool {
	return &pool{config: config, patience: acquireTime, slots: make(chan struct{}, size)}
}

// acquire lends a session. Each must be released.
func (p *pool) acquire(ctx context.Context) (*session, error) {
	wait := time.NewTimer(p.patience)
	defer wait.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-wait.C:
		return nil, errPoolBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		s, generation := p.take()
		if s == nil {
			conn, err := pgconn.ConnectConfig(ctx, p.config)
			if err != nil {
				<-p.slots
				return nil, err
			}
			return newSession(conn, generation), nil
		}
		if time.Since(s.idleSince) < trustTime || s.exec(ctx, "") == nil {
			return s, nil
		}
		s.close()
	}
}

func (p *pool) take() (*session, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil, p.generation
	}
	s := p.idle[last]
	p.idle = p.idle[:last]
	return s, p.generation
}

// release returns a session to the pool, or closes it if its connection cannot run another
// transaction.
func (p *pool) release(s *session) {
	defer func() { <-p.slots }()
	s.idleSince = time.Now()
	p.mu.Lock()
	keep := s.generation == p.generation && s.ready()
	if keep {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if !keep {
		s.close()
	}
}

// reset closes all connections, lent ones on release. If one connection breaks, the others usually
// have, too, and each would fail one request.
func (p *pool) reset() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.generation++
	p.mu.Unlock()
	for _, s := range idle {
		s.close()
	}
}

// close waits until no session is lent, closes all and lends no more.
func (p *pool) close() {
	p.closing.Do(func() {
		for range cap(p.slots) {
			p.slots <- struct{}{}
		}
		p.reset()
	})
}
