package gateway

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestPoolBounds(t *testing.T) {
	t.Parallel()
	config, err := pgconn.ParseConfig("postgres://nobody@127.0.0.1:1/nothing")
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	started := make(chan struct{}, 1)
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		started <- struct{}{}
		<-held
		return nil, errors.New("no such server")
	}
	p := newPool(config, 1)
	p.patience = time.Millisecond
	first := make(chan error)
	go func() {
		_, err := p.acquire(context.Background())
		first <- err
	}()
	<-started // the only slot is taken
	if _, err := p.acquire(context.Background()); !errors.Is(err, errPoolBusy) {
		t.Errorf("a second session: %v", err)
	}
	p.patience = time.Hour
	gone, leave := context.WithCancel(context.Background())
	leave()
	if _, err := p.acquire(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	close(held)
	var failed *pgconn.ConnectError
	if err := <-first; !errors.As(err, &failed) {
		t.Errorf("the first session: %v", err)
	}
	p.close() // would wait forever for a slot that was not returned
	p.close()
}
