package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tasklens/internal/wait"
)

// Model is a model provider that fails on demand in one of several ways, and otherwise responds
// like the wrapped one.
type Model struct {
	next http.Handler
	mu   sync.Mutex
	mode string
}

// NewModel returns a Model that responds like next.
func NewModel(next http.Handler) *Model { return &Model{next: next} }

// modes are the ways to fail. Each responds to a request, given the provider's regular response.
var modes = map[string]func(w http.ResponseWriter, r *http.Request, said *httptest.ResponseRecorder){
	"well": func(w http.ResponseWriter, _ *http.Request, said *httptest.ResponseRecorder) {
		repeat(w, said, said.Body.String())
	},
	"broken":         refusal(500, "server_error", ""),
	"overloaded":     refusal(503, "overloaded", ""),
	"limited":        refusal(429, "rate_limit_exceeded", "1"),
	"limited-unsaid": refusal(429, "rate_limit_exceeded", ""),
	"unpaid":         refusal(429, "insufficient_quota", ""),
	"refusing":       refusal(401, "invalid_api_key", ""),
	"garbled": func(w http.ResponseWriter, _ *http.Request, said *httptest.ResponseRecorder) {
		repeat(w, said, strings.ReplaceAll(said.Body.String(), `"`, `'`))
	},
	"cut": func(w http.ResponseWriter, _ *http.Request, said *httptest.ResponseRecorder) {
		w.Header().Set("Content-Length", strconv.Itoa(said.Body.Len()))
		repeat(w, said, said.Body.String()[:said.Body.Len()/2])
		panic(http.ErrAbortHandler)
	},
	"null": func(w http.ResponseWriter, _ *http.Request, said *httptest.ResponseRecorder) {
		repeat(w, said, nothing(said))
	},
	"misshapen": func(w http.ResponseWriter, _ *http.Request, said *httptest.ResponseRecorder) {
		repeat(w, said, misshape(said.Body.Bytes()))
	},
	"gone": func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) { panic(http.ErrAbortHandler) },
	"silent": func(_ http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
		_ = wait.For(r.Context(), patience)
	},
}

// Fail sets how later requests fail; "well" ends the failure.
func (m *Model) Fail(mode string) error {
	if modes[mode] == nil {
		return fmt.Errorf("unknown failure mode %q; the modes are %s", mode, strings.Join(slices.Sorted(maps.Keys(modes)), ", "))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mode = mode
	return nil
}

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	mode := m.mode
	m.mu.Unlock()
	if mode == "" || mode == "well" {
		m.next.ServeHTTP(w, r)
		return
	}
	said := httptest.NewRecorder()
	m.next.ServeHTTP(said, r)
	modes[mode](w, r, said)
}

// repeat sends the regular response with another body.
func repeat(w http.ResponseWriter, said *httptest.ResponseRecorder, body string) {
	said.Header().Del("Content-Length")
	maps.Copy(w.Header(), said.Header())
	w.WriteHeader(said.Code)
	_, _ = w.Write([]byte(body))
}

// nothing sends null as the body, or as each event of a stream.
func nothing(said *httptest.ResponseRecorder) string {
	if strings.HasPrefix(said.Header().Get("Content-Type"), "text/event-stream") {
		return "data: null\n\ndata: [DONE]\n\n"
	}
	return "null"
}

// misshape removes some numbers of an embedding, or the choices of an answer.
func misshape(body []byte) string {
	var said map[string]any
	if json.Unmarshal(body, &said) != nil {
		return "{}" // a streamed response
	}
	if said["choices"] != nil {
		said["choices"] = []any{}
	}
	data, _ := said["data"].([]any)
	for _, one := range data {
		item, _ := one.(map[string]any)
		switch embedding := item["embedding"].(type) {
		case string: // base64
			item["embedding"] = embedding[:min(len(embedding), 400)]
		case []any:
			item["embedding"] = embedding[:min(len(embedding), 75)]
		}
	}
	text, err := json.Marshal(said)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// refusal is an error response of the provider.
func refusal(status int, code, retryAfter string) func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
	return func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"The model fails on demand.","type":"error","code":%q}}`, code)
	}
}
