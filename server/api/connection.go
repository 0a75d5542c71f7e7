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
)

// busyRetry is when who was refused for want of room may try again.
const busyRetry = time.Second

// refusalTime is how long a client that is refused may take to read that.
const refusalTime = time.Second

// bounded is a listener that keeps so many connections at a time: each that says that a body will come is given the memory
// for it before anything is known of who sends it. Who comes when there are as many is told so, and let go.
type bounded struct {
	net.Listener
	most   int64
	open   *atomic.Int64
	refuse func(net.Conn)
}

func (b bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= b.most {
			return &boundedConn{Conn: conn, gone: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		go b.refuse(conn)
	}
}

type boundedConn struct {
	net.Conn
	gone func()
}

func (c *boundedConn) Close() error {
	c.gone()
	return c.Conn.Close()
}

// bounding is a listener with the bound that the operator wants.
func (a *API) bounding(listener net.Listener) net.Listener {
	if a.Limits.Connections <= 0 {
		return listener
	}
	return bounded{Listener: listener, most: int64(a.Limits.Connections), open: &atomic.Int64{}, refuse: a.refuseConnection}
}

// refuseConnection answers whatever would be asked on a connection.
func (a *API) refuseConnection(conn net.Conn) {
	defer conn.Close()
	a.Metrics.LimitHit(metric.LimitConnections)
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
	busy := fault.New(fault.Unavailable, "The service is busy.")
	busy.RetryAfter = busyRetry
	return busy
}
