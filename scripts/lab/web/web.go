// Package web calls the HTTP API of a running service, as any client does. It does not know what it
// asks for.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	timeout   = 11 * time.Minute // a service may take ten
	maxAnswer = 32 << 20
)

// client keeps one connection per simulated client.
var client = &http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}}

// CloseIdleConnections closes the connections that no request uses.
func CloseIdleConnections() { client.CloseIdleConnections() }

// Call sends a request as JSON, unless it is nil, and decodes the response.
func Call(ctx context.Context, method, url string, request, answer any) error {
	text, err := Read(ctx, method, url, request)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", url, err)
	}
	return nil
}

// Read sends a request as Call does and returns the response. Any status but 200 is an error.
func Read(ctx context.Context, method, url string, request any) ([]byte, error) {
	var body []byte
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return nil, err
		}
	}
	call, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	call.Header.Set("Content-Type", "application/json")
	response, err := client.Do(call)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %d: %.500s", method, url, response.StatusCode, text)
	}
	return text, nil
}

// Metrics returns the metrics of a service by name, with their labels as they stand there.
func Metrics(ctx context.Context, service string) (map[string]float64, error) {
	text, err := Read(ctx, http.MethodGet, service+"/metrics", nil)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			values[line[:at]], _ = strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		}
	}
	if values["go_goroutines"] == 0 {
		return nil, errors.New("there are no metrics of a program in Go")
	}
	return values, nil
}
