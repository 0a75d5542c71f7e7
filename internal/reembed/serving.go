package reembed

import (
	"context"
	"sync"
	"time"
)

const (
	// servingLife is how long an answer is taken for the present one. A query that is embedded by the former model
	// meanwhile is answered by the former set.
	servingLife = time.Second
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

	mutex sync.Mutex
	name  string // "" is the configured one
	asked time.Time
}

// NewServing asks a database, and a model.
func NewServing(db Database, model Model) *Serving { return &Serving{db: db, model: model} }

// Use gives a context under which queries are embedded by the model of the set that is searched, and its name, "" where
// that is the configured one's.
func (s *Serving) Use(ctx context.Context) (context.Context, string) {
	if s == nil {
		return ctx, ""
	}
	name := s.read(ctx)
	if name == "" {
		return ctx, name
	}
	return s.model.By(ctx, name), name
}

// read asks at most once in servingLife, a failure included: who is asked for the version next hears of it, too.
func (s *Serving) read(ctx context.Context) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Since(s.asked) < servingLife {
		return s.name
	}
	// For others as well, so it does not end with this request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), servingTimeout)
	defer cancel()
	sets, err := Read(ctx, s.db)
	s.asked = time.Now()
	if err == nil && sets.Model != nil {
		s.name = *sets.Model
	}
	return s.name
}
