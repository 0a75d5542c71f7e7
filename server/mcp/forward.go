package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	maxMessage   = 2 << 20 // bytes; the service itself takes less
	atOnce       = 8       // messages that are forwarded at a time
	forwardLimit = 2 * time.Minute
)

// Forward passes messages, one a line, between a program that speaks the protocol over its standard
// input and output and a service's endpoint. It returns when the input ends, or with the context.
func Forward(ctx context.Context, in io.Reader, out io.Writer, endpoint, token string) error {
	f := &forwarder{endpoint: endpoint, token: token, out: out, client: &http.Client{
		Timeout: forwardLimit,
		// The token must reach no other service.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(make([]byte, 64<<10), maxMessage)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	var under sync.WaitGroup
	defer under.Wait()
	places := make(chan struct{}, atOnce)
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, more := <-lines:
			if !more {
				select {
				case err := <-failed:
					if err != nil {
						return fmt.Errorf("read the messages: %w", err)
					}
				default: // the context ended
				}
				return nil
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			m := readMessage(line)
			if m.Method == "initialize" {
				under.Wait()
				f.forward(ctx, m) // what follows is in the version that it agrees on
				continue
			}
			places <- struct{}{}
			under.Go(func() {
				defer func() { <-places }()
				f.forward(ctx, m)
			})
		}
	}
}

type forwarder struct {
	endpoint, token string
	client          *http.Client
	version         string // agreed on by initialize

	mutex sync.Mutex
	out   io.Writer
}

// forwarded holds the fields of a message that forwarding needs.
type forwarded struct {
	line   []byte
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string         `json:"name"`
		Meta map[string]any `json:"_meta"`
	} `json:"params"`
}

// readMessage reads these fields; the service rejects what cannot be parsed.
func readMessage(line []byte) forwarded {
	m := forwarded{line: line}
	_ = json.Unmarshal(line, &m)
	return m
}

// forward sends a message and writes its response, if it has one.
func (f *forwarder) forward(ctx context.Context, m forwarded) {
	response, err := f.post(ctx, m)
	if err != nil {
		// A notification has no response, and no client waits for one.
		if len(m.ID) > 0 {
			failure, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": err.Error()}})
			f.write(failure)
		}
		return
	}
	if m.Method == "initialize" {
		var initialized struct {
			Result struct{ ProtocolVersion string }
		}
		if json.Unmarshal(response, &initialized) == nil {
			f.version = initialized.Result.ProtocolVersion
		}
	}
	if len(response) > 0 {
		f.write(response)
	}
}

// post sends a message with the headers that its version requires.
func (f *forwarder) post(ctx context.Context, m forwarded) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.endpoint, bytes.NewReader(m.line))
	if err != nil {
		return nil, fmt.Errorf("the address of the service: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if f.token != "" {
		request.Header.Set("Authorization", "Bearer "+f.token)
	}
	stated, _ := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string)
	if version := cmp.Or(stated, f.version); version != "" {
		request.Header.Set("Mcp-Protocol-Version", version)
	}
	if stated != "" {
		request.Header.Set("Mcp-Method", m.Method)
		if m.Params.Name != "" {
			request.Header.Set("Mcp-Name", m.Params.Name)
		}
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the service does not answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return nil, fmt.Errorf("the service's response broke off: %w", err)
	}
	if response.StatusCode < 300 || strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		var line bytes.Buffer
		if len(body) > 0 && json.Compact(&line, body) != nil {
			return nil, errors.New("the service's response is not JSON: check TASKLENS_URL")
		}
		return line.Bytes(), nil
	}
	var p problem
	_ = json.Unmarshal(body, &p) // another server may have answered
	failure := response.Status
	if p.Detail != "" {
		failure += ": " + p.Detail
	}
	if wait := response.Header.Get("Retry-After"); wait != "" {
		failure += " Retry after " + wait + " seconds."
	}
	return nil, errors.New(failure)
}

func (f *forwarder) write(line []byte) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	_, _ = f.out.Write(append(line, '\n')) // a client that left ends the input too
}
