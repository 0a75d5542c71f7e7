package api

import (
	"io"
	"net"
	"time"
)

// How much of an unwanted request is read, and for how long, before its connection is given up.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// lingering is a listener whose connections are closed in stages (RFC 9112, section 9.6). Closed at once, a connection
// with unread bytes is reset, and a client that is still sending its too large request may never see the answer.
type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); err == nil && ok {
		return lingeringConn{tcp}, nil
	}
	return conn, err
}

type lingeringConn struct{ *net.TCPConn }

// Close says that nothing more will be sent and returns; the connection ends when the client closes its side too.
func (c lingeringConn) Close() error {
	if err := c.CloseWrite(); err != nil {
		return c.TCPConn.Close()
	}
	go func() {
		defer c.TCPConn.Close()
		if c.SetDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, c.TCPConn, lingerBytes)
		}
	}()
	return nil
}
