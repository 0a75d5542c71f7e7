package api

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

// A log line has the ids of its request, and none outside of one.
func TestLinesHaveIDs(t *testing.T) {
	t.Parallel()
	of := context.WithValue(t.Context(), exchangeKey{}, &exchange{id: "r-1"})
	traced := trace.ContextWithSpanContext(of, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	for want, ctx := range map[string]context.Context{
		"level=INFO msg=m\n":                t.Context(),
		"level=INFO msg=m request_id=r-1\n": of,
		"level=INFO msg=m request_id=r-1 trace_id=01000000000000000000000000000000\n": traced,
	} {
		var text bytes.Buffer
		withoutTime := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		slog.New(WithRequest(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: withoutTime}))).InfoContext(ctx, "m")
		if text.String() != want {
			t.Errorf("the line is %q, want %q", text.String(), want)
		}
	}
	var text bytes.Buffer
	slog.New(WithRequest(slog.NewJSONHandler(&text, nil))).With("a", 1).WithGroup("g").InfoContext(of, "m")
	if !bytes.Contains(text.Bytes(), []byte(`"a":1`)) || !bytes.Contains(text.Bytes(), []byte(`"request_id":"r-1"`)) {
		t.Errorf("the line is %s", &text)
	}
}
