package api

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"math"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
	"tasklens/server/observe"
)

// MaxRefusals is how many connections over the limit get an answer at the same time. Others are
// closed without one.
const MaxRefusals = 64

const (
	busyRetry   = time.Second           // the Retry-After when the service is full
	refusalTime = time.Second           // how long a refused client may take to read the answer
	shortPause  = 50 * time.Millisecond // between attempts to accept without descriptors or memory
	// How much of an unwanted request is read, and for how long, before its connection is dropped.
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// listener accepts connections where fasthttp would give up or hang:
//   - Each holds buffers before its client is known, so their number is limited. Those over the
//     limit get a 503 at once, instead of waiting where a health check would wait, too.
//   - fasthttp stops on the first error of accept. Out of descriptors, accepting continues as soon
//     as other connections close.
type listener struct {
	net.Listener
	api             *API
	served, refused chan struct{} // places of connections until their descriptors are closed
	warnings        rate.Sometimes
}

func newListener(a *API, inner net.Listener) *listener {
	most := cmp.Or(max(a.Limits.Connections, 0), math.MaxInt32)
	return &listener{
		Listener: inner, api: a, served: make(chan struct{}, most), refused: make(chan struct{}, MaxRefusals),
		warnings: rate.Sometimes{First: 1, Interval: time.Minute},
	}
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case isShortage(err):
			l.api.Observer.LimitHit(observe.LimitDescriptors)
			l.warnings.Do(func() { l.api.Log.Error("cannot accept connections until others close", "error", err) })
			time.Sleep(shortPause)
			continue
		case err != nil:
			return nil, err
		}
		select {
		case l.served <- struct{}{}:
			return newConnection(conn, l.served), nil
		default:
			l.api.Observer.LimitHit(observe.LimitConnections)
		}
		select {
		case l.refused <- struct{}{}:
			rescue.Go(func() { l.api.refuseConnection(newConnection(conn, l.refused)) })
		default:
			_ = conn.Close()
		}
	}
}

// isShortage reports whether an error of accept passes once connections close.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// connection is closed in stages (RFC 9112, section 9.6), then frees its place. Closing one with
// unread bytes resets it, and a client still sending an oversized request might never see the
// response.
type connection struct {
	net.Conn
	close func()
}

func newConnection(conn net.Conn, places chan struct{}) *connection {
	return &connection{conn, sync.OnceFunc(func() {
		rescue.Go(func() {
			defer func() { <-places }()
			defer conn.Close()
			half, is := conn.(interface{ CloseWrite() error })
			if is && half.CloseWrite() == nil && conn.SetDeadline(time.Now().Add(lingerTime)) == nil {
				_, _ = io.CopyN(io.Discard, conn, lingerBytes)
			}
		})
	})}
}

// Close returns at once. The connection ends when the client closes its side, too.
func (c *connection) Close() error {
	c.close()
	return nil
}

// refuseConnection answers any request on a connection with "busy".
func (a *API) refuseConnection(conn net.Conn) {
	defer conn.Close()
	var request fasthttp.RequestCtx
	request.Init(&fasthttp.Request{}, conn.RemoteAddr(), nil)
	c := a.app.AcquireCtx(&request)
	defer a.app.ReleaseCtx(c)
	if a.problem(c, errBusy) != nil || conn.SetDeadline(time.Now().Add(refusalTime)) != nil {
		return
	}
	request.SetConnectionClose()
	w := bufio.NewWriter(conn)
	if request.Response.Write(w) == nil {
		_ = w.Flush()
	}
}

// errBusy is the error of a request refused because the service is full.
var errBusy = &fault.Error{Code: fault.Unavailable, Message: "The service is busy.", Reason: fault.Busy, RetryAfter: busyRetry}
