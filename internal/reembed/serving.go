package reembed

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
	"tasklens/internal/threshold"
)

// ErrUnknown is in the chain of every error of Serving: nothing may be embedded with a guessed
// model.
var ErrUnknown = errors.New("the serving model is not known yet")

const (
	// servingLife is how long a reading is valid. A query embedded with the previous model in that
	// time is answered from the previous set.
	servingLife = time.Second
	// servingRefresh is the age at which it is read again in the background, so that frequent queries
	// never wait for it.
	servingRefresh = servingLife / 2
	// servingTimeout bounds the call; without a response the last known model stays valid.
	servingTimeout = time.Second
)

// Serving knows the model of the set that is searched. It is safe for concurrent use.
type Serving struct {
	db         Database
	configured string

	reading singleflight.Group
	last    atomic.Pointer[answer]
}

// answer is the outcome of the last reading.
type answer struct {
	model    string
	known    bool // a reading has succeeded
	measured []threshold.Measured
	err      error // why none has
	asked    time.Time
}

// NewServing reads from a database. configured is the model of a set that names none.
func NewServing(db Database, configured string) *Serving {
	s := &Serving{db: db, configured: configured}
	s.last.Store(&answer{})
	return s
}

// Fixed always returns one model.
func Fixed(model string) *Serving {
	s := &Serving{}
	s.last.Store(&answer{model: model, known: true, asked: time.Unix(1<<40, 0)})
	return s
}

// Use returns the model that queries must be embedded with. Until the database has responded once,
// it fails with ErrUnknown; later failures keep the last known model, unless the database is Down.
func (s *Serving) Use(ctx context.Context) (string, error) {
	if err := s.Down(ctx); err != nil {
		return "", err
	}
	return model(ctx, s.last.Load())
}

// Down returns why the last reading did not reach the database: what is embedded now would be paid
// for in vain. It is nil if no reading has succeeded yet.
func (s *Serving) Down(ctx context.Context) error {
	if last := s.read(ctx); last.known && fault.CodeOf(last.err) == fault.Unavailable {
		return last.err
	}
	return nil
}

// Last returns the last known model, however old: for results cached under that model's name.
func (s *Serving) Last(ctx context.Context) (string, error) {
	if last := s.last.Load(); last.known {
		return last.model, nil
	}
	return s.Use(ctx)
}

// Measured returns what was known of models' thresholds at the last reading.
func (s *Serving) Measured() []threshold.Measured { return s.last.Load().measured }

func model(ctx context.Context, last *answer) (string, error) {
	switch {
	case last.known:
		return last.model, nil
	case ctx.Err() != nil:
		return "", fault.Wrap(fault.Timeout, "The database did not answer in time.", errors.Join(ErrUnknown, context.Cause(ctx)))
	}
	unknown := fault.Wrap(fault.Unavailable, "The database did not say which model the stored embeddings are of.", errors.Join(ErrUnknown, last.err))
	unknown.RetryAfter = servingLife
	return "", unknown
}

// read returns the last reading, or waits for the next if that is older than servingLife.
func (s *Serving) read(ctx context.Context) *answer {
	last := s.last.Load()
	if time.Since(last.asked) < servingRefresh {
		return last
	}
	reading := s.reading.DoChan("", func() (any, error) {
		s.ask(ctx)
		return nil, nil
	})
	if time.Since(last.asked) >= servingLife || !last.known {
		select {
		case <-reading:
		case <-ctx.Done():
		}
		last = s.last.Load()
	}
	return last
}

// ask caches a failure as long as a reading, so that not every query waits for a hanging database.
func (s *Serving) ask(ctx context.Context) {
	// For other requests too, so it does not end with this one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), servingTimeout)
	defer cancel()
	var sets Sets
	err := rescue.Do(func() (err error) {
		sets, err = Read(ctx, s.db)
		return err
	})
	last := *s.last.Load()
	last.asked, last.err = time.Now(), err
	if err == nil {
		last.model, last.known, last.measured = sets.Models(s.configured)[0], true, sets.Thresholds
	}
	s.last.Store(&last)
}
