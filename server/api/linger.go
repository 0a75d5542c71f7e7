package api

import (
	"io"
	"net"
	"sync"
	"time"

	"tasklens/internal/rescue"
)

// How much of an unwanted request is read, and for how long, before its connection is dropped.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// lingering is a listener whose connections are closed in stages (RFC 9112, section 9.6). Closing
// a connection with unread bytes resets it, and a client still sending an oversized request might
// never see the response.
type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return linger(conn), nil
}

// linger wraps a connection. One that has no CloseWrite is closed at once.
func linger(conn net.Conn) net.Conn {
	half, ok := conn.(halfCloser)
	if !ok {
		return conn
	}
	return &lingeringConn{Conn: conn, close: sync.OnceValue(func() error { return closeInStages(half) })}
}

type halfCloser interface {
	net.Conn
	CloseWrite() error
}

type lingeringConn struct {
	net.Conn
	close func() error
}

// Close shuts down the write side and returns. The connection ends when the client closes its
// side too.
func (c *lingeringConn) Close() error { return c.close() }

func closeInStages(conn halfCloser) error {
	if err := conn.CloseWrite(); err != nil {
		return conn.Close()
	}
	rescue.Go(func() {
		defer conn.Close()
		if conn.SetDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, conn, lingerBytes)
		}
	})
	return nil
}
