package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

const mimeEvents = "text/event-stream"

const (
	// defaultHeartbeat is the interval of keep-alive comments in an idle stream, which stop
	// proxies from closing it.
	defaultHeartbeat = 15 * time.Second
	// silence is the longest wait for the first event before headers are sent, unless heartbeats are
	// more frequent.
	silence = 5 * time.Second
	// stuckTime is how long a client may leave sent data unread.
	stuckTime = 20 * time.Second
)

// errClientLeft is the cancellation cause of a stream whose client disconnected.
var errClientLeft = errors.New("the client left")

// sendEvents runs work and sends its server-sent events, after a comment, from the first event on
// or after some silence. An error before that becomes an ordinary problem response; a later one
// becomes an "error" event. The context of work ends at the request's deadline, when the client
// disconnects, and on shutdown. begin is called at the beginning and may set headers.
func (a *API) sendEvents(c *fiber.Ctx, begin func(c *fiber.Ctx), work func(ctx context.Context, send func(name string, data any) error) error) error {
	ctx, cancel := context.WithCancelCause(c.UserContext())
	s := &eventStream{api: a, ctx: ctx, cancel: cancel, connection: c.Context().Conn(), events: make(chan string), ended: make(chan error, 1)}
	// A watched connection cannot take another request.
	c.Context().SetConnectionClose()
	rescue.Go(s.watch)
	go func() {
		s.ended <- rescue.Do(func() error { return work(ctx, s.send) })
	}()
	first, timer := ": begun\n\n", time.NewTimer(min(silence, a.Heartbeat))
	defer timer.Stop()
	select {
	case event := <-s.events:
		first += event
	case <-timer.C:
	case err := <-s.ended:
		if errors.Is(context.Cause(ctx), errClientLeft) {
			err = fault.Wrap(fault.Timeout, "The request was cancelled.", errClientLeft)
		}
		cancel(nil)
		return err
	}
	begin(c)
	c.Set(fiber.HeaderContentType, mimeEvents)
	c.Set(fiber.HeaderCacheControl, "no-store, no-transform") // which a proxy could compress, and hold back
	c.Set("X-Accel-Buffering", "no")                          // nginx would hold events back
	exchange := exchangeOf(ctx)
	exchange.stream = true
	// The stream outlives the handler, and c must not be used after it.
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer cancel(nil)
		status := http.StatusInternalServerError
		_ = rescue.Do(func() error {
			status = s.run(w, first)
			return nil
		})
		exchange.end(status)
	})
	return nil
}

// eventStream is a stream of events on their way from the work to the client.
type eventStream struct {
	api        *API
	ctx        context.Context
	cancel     context.CancelCauseFunc
	connection net.Conn
	events     chan string // encoded
	ended      chan error  // how the work has ended
}

// watch reads from the connection until that fails: the only way to notice that the client of an
// idle stream disconnected.
func (s *eventStream) watch() {
	if s.connection.SetReadDeadline(time.Time{}) == nil {
		_, _ = io.Copy(io.Discard, s.connection)
	}
	s.cancel(errClientLeft)
}

func eventText(name string, data []byte) string {
	return "event: " + name + "\ndata: " + string(data) + "\n\n"
}

// send hands an event over to the writer.
func (s *eventStream) send(name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	select {
	case s.events <- eventText(name, text):
		return nil
	case <-s.ctx.Done():
		return fault.Wrap(fault.Timeout, "The answer could not be sent in time.", context.Cause(s.ctx))
	}
}

// run writes events until the work has ended. It returns the status that an ordinary response would
// have had.
func (s *eventStream) run(w *bufio.Writer, first string) (status int) {
	heartbeat := time.NewTicker(s.api.Heartbeat)
	defer heartbeat.Stop()
	for s.write(w, first); ; {
		select {
		case text := <-s.events:
			s.write(w, text)
		case <-heartbeat.C:
			s.write(w, ": still working\n\n")
		case err := <-s.ended:
			if err == nil || errors.Is(context.Cause(s.ctx), errClientLeft) {
				return http.StatusOK
			}
			problem := s.api.describe(s.ctx, err)
			text, _ := json.Marshal(problem) // texts and numbers have no error
			s.write(w, eventText("error", text))
			return problem.Status
		}
	}
}

// write sends a text at once. If it cannot be sent, the work is cancelled.
func (s *eventStream) write(w *bufio.Writer, text string) {
	err := s.connection.SetWriteDeadline(time.Now().Add(stuckTime + s.api.Heartbeat))
	if err == nil {
		_, err = w.WriteString(text)
	}
	if err != nil || w.Flush() != nil {
		s.cancel(errClientLeft)
	}
}
