package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"tasklens/scripts/lab/chaos"
	"tasklens/scripts/lab/offline"
)

const (
	chaosClients = 32
	// chaosRecovery is longer than a worker's lease, which must expire before its jobs are claimed
	// again, and than the lifetime of idle connections.
	chaosRecovery = 3 * time.Minute
)

// disturb is the verb chaos. It prints the address of the failing model, reads the address of the
// service that uses it, and then the commands of chaos.Run.
func disturb(ctx context.Context, s settings, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	if s.DatabaseURL == "" {
		return errNoDatabase
	}
	model := chaos.NewModel(offline.NewHandler())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: model, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() { _ = server.Close(); <-served }()
	fmt.Println("http://" + listener.Addr().String())

	words := bufio.NewReader(os.Stdin)
	service, err := words.ReadString('\n')
	if err != nil {
		return errors.Join(errors.New("no address of a service"), err)
	}
	return chaos.Run{
		Service: strings.TrimSpace(service), DatabaseURL: s.DatabaseURL, Model: model, Clients: chaosClients, Recovery: chaosRecovery,
	}.Do(ctx, words, os.Stdout)
}
