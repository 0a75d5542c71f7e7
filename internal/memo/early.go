package memo

import (
	"context"
	"errors"

	"tasklens/internal/rescue"
	"tasklens/internal/vector"
)

// Pending is the embedding of an input, possibly still in flight. It is safe for concurrent use.
type Pending struct {
	embeddings   *Embeddings
	model, input string
	ctx          context.Context // done when the embedding is given up
	cancel       context.CancelCauseFunc
	done         chan struct{}
	vector       vector.Vector // valid once done is closed, like err
	err          error
}

// Begin embeds an input in the background, before it is known to be needed. All waiters share its
// result or its failure, so no request asks the model twice. Without a store, the input is embedded
// when Vector is called.
func (e *Embeddings) Begin(ctx context.Context, model, input string) *Pending {
	own, cancel := context.WithCancelCause(ctx)
	p := &Pending{embeddings: e, model: model, input: input, ctx: own, cancel: cancel, done: make(chan struct{})}
	if e.store == nil {
		p.GiveUp()
		p.err = own.Err()
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		p.err = rescue.Do(func() (err error) {
			p.vector, err = e.embed(own, model, input)
			return err
		})
	}()
	return p
}

// Failed returns an embedding that cannot be computed.
func Failed(model string, err error) *Pending {
	p := &Pending{model: model, ctx: context.Background(), cancel: func(error) {}, done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

// Model is the embedding model.
func (p *Pending) Model() string { return p.model }

// GiveUp cancels the embedding, unless others wait for it or it is late: see Embeddings.
func (p *Pending) GiveUp() { p.cancel(nil) }

// Vector waits for the embedding. If it was cancelled, Vector embeds again under ctx's deadline.
func (p *Pending) Vector(ctx context.Context) (vector.Vector, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // what has arrived is not late
		default:
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				p.cancel(context.DeadlineExceeded) // late, but still wanted
			}
			return nil, tooLate(ctx)
		}
	}
	if p.err != nil && p.ctx.Err() != nil {
		return p.embeddings.embed(ctx, p.model, p.input)
	}
	return p.vector, p.err
}
