package reembed

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
	"tasklens/internal/threshold"
)

// ErrUnknown is in the chain of every error of Serving: nothing may be embedded by a guess.
var ErrUnknown = errors.New("the serving model is not known yet")

const (
	// servingLife is how long an answer is taken for the present one. A query that is embedded by
	// the former model meanwhile is answered by the former set.
	servingLife = time.Second
	// servingRefresh is the age from which it is asked for again in the background, so that no
	// query waits for it where they come often.
	servingRefresh = servingLife / 2
	// servingTimeout bounds the call; without an answer the last known model holds.
	servingTimeout = time.Second
)

// Serving knows which model the set that is searched is of. It is safe for concurrent use.
type Serving struct {
	db         Database
	configured string

	reading singleflight.Group

	mutex sync.Mutex
	last  answer
}

// answer is the outcome of the last reading.
type answer struct {
	model    string
	known    bool // a reading has succeeded
	measured []threshold.Measured
	err      error // why none has
	asked    time.Time
}

// NewServing asks a database. configured is the model of a set that names none.
func NewServing(db Database, configured string) *Serving {
	return &Serving{db: db, configured: configured}
}

// Fixed knows one model and asks nobody.
func Fixed(model string) *Serving {
	return &Serving{last: answer{model: model, known: true, asked: time.Unix(1<<40, 0)}}
}

// Use is the model of the set that is searched, by which queries are to be embedded. Until the
// database has answered once, it fails with ErrUnknown; later failures leave the last known model.
func (s *Serving) Use(ctx context.Context) (string, error) { return model(ctx, s.read(ctx)) }

// Last is the last known model, however old that is: for what was made under that model's name.
func (s *Serving) Last(ctx context.Context) (string, error) {
	if last := s.lately(); last.known {
		return last.model, nil
	}
	return s.Use(ctx)
}

// Measured is what was known of models' thresholds at the last reading.
func (s *Serving) Measured() []threshold.Measured { return s.lately().measured }

func model(ctx context.Context, last answer) (string, error) {
	switch {
	case last.known:
		return last.model, nil
	case ctx.Err() != nil:
		return "", fault.Wrap(fault.Timeout, "The database did not answer in time.", errors.Join(ErrUnknown, context.Cause(ctx)))
	}
	unknown := fault.Wrap(fault.Unavailable, "The database could not be asked which model the stored embeddings are of.", errors.Join(ErrUnknown, last.err))
	unknown.RetryAfter = servingLife
	return "", unknown
}

// read gives the last answer, or waits for the next where that is older than servingLife.
func (s *Serving) read(ctx context.Context) answer {
	last := s.lately()
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
		last = s.lately()
	}
	return last
}

func (s *Serving) lately() answer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.last
}

// ask remembers a failure as long as an answer, so that not every query waits for a database that
// hangs.
func (s *Serving) ask(ctx context.Context) {
	// For others as well, so it does not end with this request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), servingTimeout)
	defer cancel()
	var sets Sets
	err := rescue.Do(func() (err error) {
		sets, err = Read(ctx, s.db)
		return err
	})
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.last.asked, s.last.err = time.Now(), err
	if err != nil {
		return
	}
	s.last.model, s.last.known, s.last.measured = sets.Models(s.configured)[0], true, sets.Thresholds
}
