package conformance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tasklens/internal/testbed"
	"tasklens/scripts/convert/export"
	"tasklens/scripts/lab/offline"
)

var update = flag.Bool("update", false, "rewrite the responses in testdata")

const recording = "testdata/recorded.json"

// exchange is a request and its response. Adding one means writing the request into the file and
// running the test with -update. One error of each code is recorded: who may do what, and which
// requests are invalid, has tests in server/api.
type exchange struct {
	As      string            `json:"as"`  // a caller
	Ask     string            `json:"ask"` // method and path
	With    map[string]string `json:"with,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // a string is sent as it is
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Answer  any               `json:"answer,omitempty"`
}

// recordedHeaders are those that clients rely on and that are equal in each run.
var recordedHeaders = []string{"Content-Type", "Cache-Status", "Cache-Control", "Allow", "Retry-After", "WWW-Authenticate", "Location"}

func user(n int) string { return fmt.Sprintf("0b6a3c0e-5f0b-4a51-9d0f-%012d", n) }

// startRecorded serves the sample workspace with AUTH=on, where everything is embedded and
// enriched.
func startRecorded(t *testing.T) (url string, callers map[string]string) {
	s := newStack(t, offline.NewHandler(), map[string]string{"EMBEDDING_MODEL": offline.EmbeddingModel, "CHAT_MODEL": offline.ChatModel,
		"ENRICH_REQUESTS_PER_MINUTE": "100000", "WORKER": "off"})
	s.run(t, "import", testbed.Convert(t, export.Options{}, "../../../supabase/sample"))
	s.run(t, "import", testbed.Convert(t, export.Options{}, "../../../supabase/sample/documents"))
	s.run(t, "enrich")
	// In the future a document is always new, so that its freshness is the same in each run.
	execute(t, testbed.Connect(t, s.db.OwnerURL), `update documents set created_at = '2999-01-01'`,
		fmt.Sprintf(`insert into project_members (project_id, user_id, role)
			select project_id, member::uuid, role::project_role from projects
			join (values ('TX', '%s', 'viewer'), ('TX', '%s', 'member'), ('MOB', '%[2]s', 'viewer'), ('TX', '%s', 'admin')) as m (project, member, role) on m.project = key`,
			user(1), user(2), user(3)))
	url = s.serve(t, map[string]string{"AUTH": "on", "SUPABASE_JWT_SECRET": string(s.secret), "SUPABASE_JWKS_URL": "off", "RATE_LIMIT": "off"})
	return url, map[string]string{
		"nobody": "", "service": s.settings["SUPABASE_SECRET_KEY"],
		"viewer": s.token(t, user(1), nil), "member": s.token(t, user(2), nil), "admin": s.token(t, user(3), nil), "stranger": s.token(t, user(4), nil),
		"expired": s.token(t, user(2), map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
		"forged":  s.token(t, user(2), map[string]any{"iss": "https://other.example/auth/v1"}),
		"invalid": "nonsense",
	}
}

// A service answers the recorded requests, in their order, as it did when they were recorded.
func TestRecordedRequests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []exchange
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	url, callers := startRecorded(t)
	for i, was := range recorded {
		token, known := callers[was.As]
		if !known {
			t.Fatalf("request %d: there is no caller %q", i+1, was.As)
		}
		now := was.repeat(t, url, token)
		if difference := cmp.Diff(was, now, cmpopts.EquateApprox(0, 1e-6), cmpopts.EquateEmpty()); difference != "" && !*update {
			t.Errorf("request %d, %s by %s %s: was - and is +\n%s", i+1, was.Ask, was.As, was.Body, difference)
		}
		recorded[i] = now
	}
	if *update {
		write(t, recorded)
	}
	if len(recorded) < 100 {
		t.Errorf("only %d requests are recorded", len(recorded))
	}
}

// repeat sends the request and returns the exchange as it is recorded.
func (e exchange) repeat(t *testing.T, url, token string) exchange {
	t.Helper()
	method, path, _ := strings.Cut(e.Ask, " ")
	headers := []string{}
	if token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	for name, value := range e.With {
		headers = append(headers, name, value)
	}
	body := string(e.Body)
	if strings.HasPrefix(body, `"`) {
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
	}
	r := ask(t, method, url+path, body, headers...)
	mask := mask{}
	e.Status, e.Headers, e.Answer = r.status, map[string]string{}, nil
	for _, name := range recordedHeaders {
		if value := r.header.Get(name); value != "" {
			e.Headers[name] = mask.text(value)
		}
	}
	if r.header.Get("X-Request-Id") == "" {
		t.Errorf("%s: no X-Request-Id", e.Ask)
	}
	switch kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";"); {
	case len(r.body) == 0 || strings.HasPrefix(path, "/openapi."): // the contract itself, which other tests compare
	case kind == "application/json" || kind == "application/problem+json":
		e.Answer = mask.value(parse(t, r.body))
	case kind == "text/event-stream":
		e.Answer = mask.value(events(t, r.body))
	}
	return e
}

func parse(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	return value
}

// events returns the name and the data of each event of a stream.
func events(t *testing.T, stream []byte) (all []any) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(string(stream)), "\n\n") {
		name, data, found := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		if strings.HasPrefix(block, ":") { // a comment, which keeps the connection alive
			continue
		}
		if !found {
			t.Errorf("no event: %q", block)
			continue
		}
		all = append(all, []any{name, parse(t, []byte(data))})
	}
	return all
}

// write writes the recording: the request of an exchange in one line, its status in the next, and
// the members and elements of its answer in lines of their own where they are long.
func write(t *testing.T, recorded []exchange) {
	t.Helper()
	var out bytes.Buffer
	for i, e := range recorded {
		out.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		answer := e.Answer
		e.Answer = nil
		head := strings.Replace(compact(t, e), `,"status":`, ",\n \"status\":", 1)
		out.WriteString(strings.TrimSuffix(head, "}"))
		if answer != nil {
			out.WriteString(",\n \"answer\":" + broken(t, answer, "\n "))
		}
		out.WriteString("}")
	}
	out.WriteString("\n]\n")
	if err := os.WriteFile(recording, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// broken is a value as JSON. A list or object that does not fit into a line has one for each part.
func broken(t *testing.T, value any, newLine string) string {
	t.Helper()
	whole := compact(t, value)
	if len(whole) < 300 {
		return whole
	}
	var parts []string
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			parts = append(parts, broken(t, element, newLine+" "))
		}
		return "[" + newLine + " " + strings.Join(parts, ","+newLine+" ") + "]"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			parts = append(parts, compact(t, name)+":"+broken(t, value[name], newLine+" "))
		}
		return "{" + newLine + " " + strings.Join(parts, ","+newLine+" ") + "}"
	}
	return whole
}

func compact(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
