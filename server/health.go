package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// healthTimeout is how long a service that is alive may take to say so.
const healthTimeout = 3 * time.Second

// checkHealth asks the service that HOST and PORT name whether it is alive, for containers, which
// hold no other HTTP client.
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
	// Not through a proxy: it asks the machine that it runs on.
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
