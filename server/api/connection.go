package api

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"tasklens/internal/fault"
	"tasklens/internal/metric"
	"tasklens/internal/rescue"
)

// MaxRefusals is how many connections beyond the bound are answered at a time; the rest are closed
// without an answer.
const MaxRefusals = 64

// busyRetry is the Retry-After sent when the service is full.
const busyRetry = time.Second

// refusalTime is how long a refused client may take to read the answer.
const refusalTime = time.Second

// places are what connections take up: each holds one from accept until its file descriptor is
// closed.
type places struct {
	most  int64
	taken atomic.Int64
}

// take returns the connection with a place of its own, which it frees when it is closed.
func (p *places) take(conn net.Conn) (placed net.Conn, ok bool) {
	if p.taken.Add(1) > p.most {
		p.taken.Add(-1)
		return nil, false
	}
	return &placedConn{Conn: conn, free: sync.OnceFunc(func() { p.taken.Add(-1) })}, true
}

type placedConn struct {
	net.Conn
	free func()
}

func (c *placedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}

func (c *placedConn) CloseWrite() error {
	half, ok := c.Conn.(halfCloser)
	if !ok {
		return net.ErrClosed
	}
	return half.CloseWrite()
}

// bounded is a listener that keeps so many connections at a time: a request's body is read into
// memory before anything is known of who sends it. Further connections are refused: a few at a time
// with an answer, the others by closing them.
type bounded struct {
	net.Listener
	served, refused *places
	refuse          func(net.Conn)
	count           func()
}

func (b bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if placed, ok := b.served.take(conn); ok {
			return placed, nil
		}
		b.count()
		if placed, ok := b.refused.take(conn); ok {
			rescue.Go(func() { b.refuse(linger(placed)) })
			continue
		}
		_ = conn.Close()
	}
}

// bounding is a listener with the bound that the operator wants.
func (a *API) bounding(listener net.Listener) net.Listener {
	if a.Limits.Connections <= 0 {
		return listener
	}
	return bounded{
		Listener: listener, served: &places{most: int64(a.Limits.Connections)}, refused: &places{most: MaxRefusals}, refuse: a.refuseConnection,
		count: func() { a.Metrics.LimitHit(metric.LimitConnections) },
	}
}

// refuseConnection answers whatever would be asked on a connection.
func (a *API) refuseConnection(conn net.Conn) {
	defer conn.Close()
	var request fasthttp.RequestCtx
	request.Init(&fasthttp.Request{}, conn.RemoteAddr(), nil)
	c := a.app.AcquireCtx(&request)
	defer a.app.ReleaseCtx(c)
	if a.problem(c, errBusy()) != nil || conn.SetDeadline(time.Now().Add(refusalTime)) != nil {
		return
	}
	request.SetConnectionClose()
	w := bufio.NewWriter(conn)
	if request.Response.Write(w) == nil {
		_ = w.Flush()
	}
}

// errBusy is why a request is refused at once.
func errBusy() error {
	busy := fault.New(fault.Unavailable, "The service is busy.").Because(fault.Busy)
	busy.RetryAfter = busyRetry
	return busy
}
