package reembed

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// servingLife is how long an answer is taken for the present one. A query that is embedded by the former model
	// meanwhile is answered by the former set.
	servingLife = time.Second
	// servingRefresh is the age from which it is asked for again in the background, so that no query waits for it where they
	// come often.
	servingRefresh = servingLife / 2
	// servingTimeout bounds the call; without an answer the last one holds.
	servingTimeout = time.Second
)

// Model can be asked for another model's embeddings.
type Model interface {
	By(ctx context.Context, embeddingModel string) context.Context
}

// Serving knows which model the set that is searched is of. It is safe for concurrent use; a nil one knows of none but
// the configured model.
type Serving struct {
	db    Database
	model Model

	reading singleflight.Group

	mutex sync.Mutex
	name  string    // "" is the configured one
	asked time.Time // when the last answer came, or failed to
}

// NewServing asks a database, and a model.
func NewServing(db Database, model Model) *Serving { return &Serving{db: db, model: model} }

// Use gives a context under which queries are embedded by the model of the set that is searched, and its name, "" where
// that is the configured one's.
func (s *Serving) Use(ctx context.Context) (context.Context, string) {
	if s == nil {
		return ctx, ""
	}
	return s.under(ctx, s.read(ctx))
}

// Last is Use by the last answer, however old that is: for what was made under that model's name. It waits for the first.
func (s *Serving) Last(ctx context.Context) (context.Context, string) {
	if s == nil {
		return ctx, ""
	}
	if name, asked := s.last(); !asked.IsZero() {
		return s.under(ctx, name)
	}
	return s.Use(ctx)
}

func (s *Serving) under(ctx context.Context, name string) (context.Context, string) {
	if name == "" {
		return ctx, name
	}
	return s.model.By(ctx, name), name
}

// read gives the last answer, or waits for the next where that is older than servingLife.
func (s *Serving) read(ctx context.Context) string {
	name, asked := s.last()
	if time.Since(asked) < servingRefresh {
		return name
	}
	reading := s.reading.DoChan("", func() (any, error) {
		s.ask(ctx)
		return nil, nil
	})
	if time.Since(asked) >= servingLife {
		select {
		case <-reading:
		case <-ctx.Done():
		}
		name, _ = s.last()
	}
	return name
}

func (s *Serving) last() (name string, asked time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.name, s.asked
}

// ask counts a failure as an answer, the same as the last: who is asked for the version next hears of it, too.
func (s *Serving) ask(ctx context.Context) {
	// For others as well, so it does not end with this request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), servingTimeout)
	defer cancel()
	sets, err := Read(ctx, s.db)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked = time.Now()
	if err == nil && sets.Model != nil {
		s.name = *sets.Model
	}
}
