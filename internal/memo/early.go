package memo

import (
	"context"
	"errors"

	"tasklens/internal/rescue"
	"tasklens/internal/vector"
)

// Pending is the embedding of an input, which may still be on its way. It is safe for concurrent
// use.
type Pending struct {
	embeddings   *Embeddings
	model, input string
	ctx          context.Context // ends when it is given up
	cancel       context.CancelCauseFunc
	done         chan struct{}
	vector       vector.Vector // once done, as err
	err          error
}

// Begin embeds an input by a model in the background, before anybody knows whether it is needed:
// all who wait for it share what comes of it, a failure too, so that no request asks the model
// twice. Without a store it is embedded when it is waited for.
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

// Failed is an embedding that cannot be made.
func Failed(model string, err error) *Pending {
	p := &Pending{model: model, ctx: context.Background(), cancel: func(error) {}, done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

// Model is the one that embeds.
func (p *Pending) Model() string { return p.model }

// GiveUp ends the embedding, if nobody else waits for the same and it is not late: see Embeddings.
func (p *Pending) GiveUp() { p.cancel(nil) }

// Vector waits for the embedding. If it was cancelled, it embeds again under the deadline of its
// caller.
func (p *Pending) Vector(ctx context.Context) (vector.Vector, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			p.cancel(context.DeadlineExceeded) // it is late, and not unwanted
		}
		return nil, tooLate(ctx)
	}
	if p.err != nil && p.ctx.Err() != nil {
		return p.embeddings.embed(ctx, p.model, p.input)
	}
	return p.vector, p.err
}
