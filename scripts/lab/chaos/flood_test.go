package chaos

import (
	"net"
	"testing"
	"time"
)

// The requested number of connections is held until the number changes.
func TestFlood(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const wanted = 20
	f := flood{service: "http://" + listener.Addr().String()}
	defer f.close()
	if err := f.hold(t.Context(), "many"); err == nil {
		t.Error("many is a number")
	}
	if err := f.hold(t.Context(), "20"); err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	for range wanted {
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		held = append(held, conn)
	}
	if err := f.hold(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	for _, conn := range held {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != "EOF" {
			t.Errorf("a connection is still held: %d, %v", n, err)
		}
	}
}
