package memo

import (
	"context"
	"errors"

	"tasklens/internal/rescue"
	"tasklens/internal/vector"
)

type earlyKey struct{}

// early is an embedding that was asked for before anybody knew whether it is needed.
type early struct {
	input   string
	ctx     context.Context // ends when it is given up
	giveUp  context.CancelCauseFunc
	done    chan struct{}
	vectors []vector.Vector // once done, as err
	err     error
}

// Begin embeds an input in the background: whoever asks for it with the context that comes back is given what came of it,
// a failure too, so that no request asks the model twice. giveUp ends it, if nobody else waits for the same and it is not
// late: see Embeddings.
func (e *Embeddings) Begin(ctx context.Context, input string) (_ context.Context, giveUp func()) {
	own, cancel := context.WithCancelCause(ctx)
	begun := &early{input: input, ctx: own, giveUp: cancel, done: make(chan struct{})}
	go func() {
		defer close(begun.done)
		begun.err = rescue.Do(func() (err error) {
			begun.vectors, err = e.embed(own, input)
			return err
		})
	}()
	return context.WithValue(ctx, earlyKey{}, begun), func() { cancel(nil) }
}

// begun gives what came of an input that was begun for this context; none where nothing was, or it was given up since.
func begun(ctx context.Context, input string) (vectors []vector.Vector, is bool, err error) {
	b, is := ctx.Value(earlyKey{}).(*early)
	if !is || b.input != input {
		return nil, false, nil
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			b.giveUp(context.DeadlineExceeded) // it is late, and not unwanted
		}
		return nil, true, tooLate(ctx)
	}
	if b.err != nil && b.ctx.Err() != nil {
		return nil, false, nil // who began it has left, but not who waits now
	}
	return b.vectors, true, b.err
}
