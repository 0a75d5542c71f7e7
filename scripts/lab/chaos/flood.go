package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// flood holds idle connections to the service until the service closes them or the flood ends.
type flood struct {
	service string
	end     func()
}

// hold closes the previous connections and opens n new ones at once. It does not wait for them to
// be accepted.
func (f *flood) hold(ctx context.Context, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("read the number of connections: %w", err)
	}
	f.close()
	ctx, cancel := context.WithCancel(ctx)
	var held sync.WaitGroup
	for range n {
		held.Go(func() {
			conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", strings.TrimPrefix(f.service, "http://"))
			if err != nil {
				return // no file descriptor left, or the flood has ended
			}
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	f.end = func() { cancel(); held.Wait() }
	return nil
}

// close ends the flood and waits until its connections are closed.
func (f *flood) close() {
	if f.end != nil {
		f.end()
	}
	f.end = nil
}
