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
func checkHealth(_ context.Context, args []string) error {
	if err := parse(newFlags("health"), args, 0); err != nil {
		return err
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	host := config.Host
	if address := net.ParseIP(host); address != nil && address.IsUnspecified() {
		host = "localhost"
	}
	// No proxy: the service is on the same machine.
	client := http.Client{Transport: &http.Transport{}, Timeout: healthTimeout}
	response, err := client.Get("http://" + net.JoinHostPort(host, strconv.Itoa(config.Port)) + "/healthz")
	if err != nil {
		return fmt.Errorf("the service is not alive: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service is not alive: %s", response.Status)
	}
	return nil
}
