package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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
	// stuckTime is how long a client may leave sent data unread.
	stuckTime = 20 * time.Second
)

// errClientLeft is the cancellation cause of a stream whose client disconnected.
var errClientLeft = errors.New("the client left")

// event is a server-sent event.
type event struct {
	name string
	data any
}

// sendEvents runs work and sends its server-sent events. An error before the first event becomes
// an ordinary problem response; a later one becomes an "error" event. The context of work ends at
// the request's deadline, when the client disconnects, and on shutdown. begin is called with the
// first event and may set headers.
func (a *API) sendEvents(c *fiber.Ctx, begin func(c *fiber.Ctx), work func(ctx context.Context, send func(name string, data any) error) error) error {
	// The stream outlives the handler, and c must not be used after it.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.UserContext()))
	stopped := context.AfterFunc(a.base, func() { cancel(context.Cause(a.base)) })
	deadline, _ := c.UserContext().Deadline()
	ctx, end := context.WithDeadline(ctx, deadline)
	release := func() {
		stopped()
		end()
		cancel(nil)
	}
	connection := c.Context().Conn()
	// A watched connection cannot take another request.
	c.Context().SetConnectionClose()
	rescue.Go(func() { watch(connection, cancel) })

	events, failed := make(chan event), make(chan error, 1)
	go func() {
		failed <- rescue.Do(func() error {
			return work(ctx, func(name string, data any) error {
				select {
				case events <- event{name, data}:
					return nil
				case <-ctx.Done():
					return fault.Wrap(fault.Timeout, "The answer could not be sent in time.", context.Cause(ctx))
				}
			})
		})
	}()
	sent := &eventStream{api: a, ctx: ctx, connection: connection, events: events, failed: failed, request: newLogged(c, nil)}
	select {
	case sent.first = <-events:
	case err := <-failed:
		release()
		if errors.Is(context.Cause(ctx), errClientLeft) {
			err = fault.Wrap(fault.Timeout, "The request was cancelled.", errClientLeft)
		}
		return err
	}
	begin(c)
	exchange, method, route := exchangeOf(ctx), c.Method(), routeOf(c, nil)
	exchange.stream = true
	c.Set(fiber.HeaderContentType, mimeEvents)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer release()
		status := http.StatusInternalServerError
		_ = rescue.Do(func() error {
			status = sent.run(w, cancel)
			return nil
		})
		exchange.end(method, route, status)
	})
	return nil
}

// watch reads from a connection until that fails: the only way to notice that the client of an
// idle stream disconnected.
func watch(connection net.Conn, cancel context.CancelCauseFunc) {
	if connection.SetReadDeadline(time.Time{}) == nil {
		_, _ = io.Copy(io.Discard, connection)
	}
	cancel(errClientLeft)
}

// eventStream is a stream being sent.
type eventStream struct {
	api        *API
	ctx        context.Context
	connection net.Conn
	first      event
	events     <-chan event
	failed     <-chan error
	request    logged
}

// run sends events until the work is done, has failed or the client disconnects. It returns the
// status that an ordinary response would have had.
func (s *eventStream) run(w *bufio.Writer, cancel context.CancelCauseFunc) (status int) {
	status = http.StatusOK
	heartbeat := time.NewTicker(s.api.Heartbeat)
	defer heartbeat.Stop()
	next, ended := s.first, false
	for !ended {
		if next.name != "" && !s.send(w, next) {
			cancel(errClientLeft)
		}
		next = event{}
		select {
		case next = <-s.events:
		case err := <-s.failed:
			ended = true
			if err != nil && !errors.Is(context.Cause(s.ctx), errClientLeft) {
				problem := s.api.describe(s.api.stopping(err), s.request)
				status = problem.Status
				s.send(w, event{"error", problem})
			}
		case <-heartbeat.C:
			if !s.flush(w, ": still working\n\n") {
				cancel(errClientLeft)
			}
		}
	}
	return status
}

// send writes an event. It returns false if the client has disconnected.
func (s *eventStream) send(w *bufio.Writer, e event) bool {
	data, err := json.Marshal(e.data)
	if err != nil {
		return false
	}
	return s.flush(w, "event: "+e.name+"\ndata: "+string(data)+"\n\n")
}

func (s *eventStream) flush(w *bufio.Writer, text string) bool {
	if s.connection.SetWriteDeadline(time.Now().Add(stuckTime+s.api.Heartbeat)) != nil {
		return false
	}
	if _, err := w.WriteString(text); err != nil {
		return false
	}
	return w.Flush() == nil
}
