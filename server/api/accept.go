package api

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"tasklens/internal/metric"
)

// The first and the longest pause in accepting while the machine is out of descriptors or memory.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// shortages are the errors of accept that pass once connections close and release descriptors and
// memory.
var shortages = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}

// patient is a listener that retries accept during a shortage. fasthttp would stop the server on
// the first error.
type patient struct {
	net.Listener
	short  func(error) // called for each error that is waited out
	closed chan struct{}
	close  func() error
}

func newPatient(listener net.Listener, short func(error)) *patient {
	p := &patient{Listener: listener, short: short, closed: make(chan struct{})}
	p.close = sync.OnceValue(func() error {
		close(p.closed)
		return listener.Close()
	})
	return p
}

func (p *patient) Close() error { return p.close() }

func (p *patient) Accept() (net.Conn, error) {
	for pause := minAcceptPause; ; pause = min(2*pause, maxAcceptPause) {
		conn, err := p.Listener.Accept()
		if err == nil || !isShortage(err) {
			return conn, err
		}
		p.short(err)
		select {
		case <-time.After(pause):
		case <-p.closed:
			return nil, net.ErrClosed
		}
	}
}

// shortage counts the pauses in accepting and logs at most one a minute.
func (a *API) shortage() func(error) {
	warnings := rate.Sometimes{First: 1, Interval: time.Minute}
	return func(err error) {
		a.Metrics.LimitHit(metric.LimitDescriptors)
		warnings.Do(func() { a.Log.Error("cannot accept connections until others close", "error", err) })
	}
}

func isShortage(err error) bool {
	for _, shortage := range shortages {
		if errors.Is(err, shortage) {
			return true
		}
	}
	return false
}
