package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// healthTimeout is the time within which a live service responds.
const healthTimeout = 3 * time.Second

// checkHealth asks the service at HOST and PORT whether it is alive. It is for containers, which
// have no other HTTP client.
func checkHealth(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	host := config.Host
	if address := net.ParseIP(host); address != nil && address.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, strconv.Itoa(config.Port))+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("HOST is no name of a host: %w", err)
	}
	// No proxy: the service is on the same machine.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return fmt.Errorf("the service is not alive: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service is not alive: %s", response.Status)
	}
	return nil
}
