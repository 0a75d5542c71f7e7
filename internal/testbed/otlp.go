package testbed

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span that a program exported.
type Span struct {
	Name       string
	TraceID    string // hexadecimal, like the other ids
	ID         string
	ParentID   string // "" for the first of a trace that this program began
	Failed     bool
	Service    string
	Attributes map[string]string // lists are joined by commas
}

// Collector receives traces by OTLP over HTTP: protobuf at /v1/traces.
type Collector struct {
	URL string

	mutex sync.Mutex
	spans []Span
	sent  string // all bodies, for searching
}

// StartCollector starts a collector that stops when the test ends.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sent += string(body)
	for _, resource := range request.ResourceSpans {
		service := ""
		for _, attribute := range resource.Resource.Attributes {
			if attribute.Key == "service.name" {
				service = attribute.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, newSpan(service, span))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func newSpan(service string, span *trace.Span) Span {
	s := Span{
		Name: span.Name, TraceID: hex.EncodeToString(span.TraceId), ID: hex.EncodeToString(span.SpanId), ParentID: hex.EncodeToString(span.ParentSpanId),
		Failed: span.Status.GetCode() == trace.Status_STATUS_CODE_ERROR, Service: service, Attributes: map[string]string{},
	}
	for _, attribute := range span.Attributes {
		s.Attributes[attribute.Key] = printed(attribute.Value)
	}
	return s
}

func printed(value *common.AnyValue) string {
	switch value := value.Value.(type) {
	case *common.AnyValue_StringValue:
		return value.StringValue
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(value.IntValue, 10)
	case *common.AnyValue_ArrayValue:
		var items []string
		for _, item := range value.ArrayValue.Values {
			items = append(items, printed(item))
		}
		return strings.Join(items, ",")
	default:
		return fmt.Sprint(value)
	}
}

// Await waits for the first span with this name.
func (c *Collector) Await(t testing.TB, name string) Span {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c.mutex.Lock()
		spans := c.spans
		c.mutex.Unlock()
		for _, span := range spans {
			if span.Name == name {
				return span
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no span %q was received, only %+v", name, spans)
		}
	}
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []Span {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]Span(nil), c.spans...)
}

// Sent returns the raw bodies received so far.
func (c *Collector) Sent() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.sent
}
