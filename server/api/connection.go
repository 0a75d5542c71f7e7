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

// MaxRefusals is how many connections over the limit get an answer at the same time. Others are
// closed without one.
const MaxRefusals = 64

// busyRetry is the Retry-After sent when the service is full.
const busyRetry = time.Second

// refusalTime is how long a refused client may take to read the answer.
const refusalTime = time.Second

// places counts open connections. Each holds a place from accept until its descriptor is closed.
type places struct {
	most  int64
	taken atomic.Int64
}

// take wraps the connection so that closing it releases its place.
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

// bounded is a listener that limits open connections, because each holds buffers before its client
// is known. A few connections over the limit get an answer at a time;
// others are closed.
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

// bounding returns a listener with the operator's limit.
func (a *API) bounding(listener net.Listener) net.Listener {
	if a.Limits.Connections <= 0 {
		return listener
	}
	return bounded{
		Listener: listener, served: &places{most: int64(a.Limits.Connections)}, refused: &places{most: MaxRefusals}, refuse: a.refuseConnection,
		count: func() { a.Metrics.LimitHit(metric.LimitConnections) },
	}
}

// refuseConnection answers any request on a connection with "busy".
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

// errBusy is the error of a request refused because the service is full.
func errBusy() error {
	busy := fault.New(fault.Unavailable, "The service is busy.").Because(fault.Busy)
	busy.RetryAfter = busyRetry
	return busy
}
