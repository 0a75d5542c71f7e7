package api_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// Requests generated from the document, valid and invalid, never cause a server error: valid ones
// are not rejected as malformed, invalid ones do not succeed, and every response is documented.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful)
	documents := slices.Sorted(maps.Values(s.shelve(notes...)))
	operations := listOperations(theDocument(t))
	var clients sync.WaitGroup
	const side = 4
	total := 10_000
	if testing.Short() {
		total = 1_500
	}
	var statuses [600]atomic.Int32 // how many responses had each
	for client := range side {
		clients.Go(func() {
			for i := client; i < total && !t.Failed(); i += side {
				// The number of a request is the seed that reproduces it.
				m := maker{rand.New(rand.NewPCG(2026, uint64(i))), documents}
				statuses[m.send(t, s, operations[i%len(operations)], i)].Add(1)
			}
		})
	}
	clients.Wait()
	for _, status := range []int{200, 400, 404} {
		if statuses[status].Load() == 0 {
			t.Errorf("no request got the status %d, so nothing was tested", status)
		}
	}
}

// operation is one method of one path.
type operation struct {
	method, path string
	*openapi3.Operation
}

func listOperations(doc document) (all []operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		operations := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			all = append(all, operation{method, path, operations[method]})
		}
	}
	return all
}

// maker generates requests. Most values match the schema.
type maker struct {
	*rand.Rand
	documents []string // ids of existing documents, unless deleted meanwhile
}

func (m maker) oneIn(n int) bool { return m.IntN(n) == 0 }

func pickOf[T any](m maker, from ...T) T { return from[m.IntN(len(from))] }

// send makes a request of an operation and returns the status of the response.
func (m maker) send(t *testing.T, s *service, o operation, number int) int {
	path, query := o.path, url.Values{}
	padded := false // lengths apply after trimming
	for _, p := range o.Parameters {
		text := fmt.Sprint(m.value(p.Value.Schema.Value, 0))
		padded = padded || strings.TrimSpace(text) != text
		switch {
		case p.Value.In == openapi3.ParameterInPath:
			if strings.Trim(text, ".") == "" {
				text = "x" // an empty text would change the path
			}
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(text))
		case p.Value.In == openapi3.ParameterInQuery && !m.oneIn(3):
			query.Add(p.Value.Name, text)
		}
	}
	if m.oneIn(25) {
		query.Add(m.text(8), m.text(8))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	body, headers := "", []string{}
	if o.RequestBody != nil {
		body = m.body(o.RequestBody.Value.Content["application/json"].Schema.Value)
	}
	if m.oneIn(40) {
		headers = append(headers, "Content-Type", pickOf(m, "text/plain", "application/json; charset=latin1", "", "a/b;"))
	}
	if m.oneIn(40) {
		headers = append(headers, "X-Request-Id", url.QueryEscape(m.text(200)))
	}
	request, err := http.NewRequest(o.method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0 // not a valid HTTP request
	}
	r := s.send(o.method, path, body, headers...)
	told := fmt.Sprintf("request %d: %s %s %.1000s: %d %.1000s", number, o.method, path, body, r.status, r.text)
	if r.status >= 500 {
		t.Errorf("%s: nothing is out of order", told)
	}
	doc := theDocument(t)
	route := doc.route(request)
	// MCP messages follow the protocol and have no schema here.
	if r.status != http.StatusBadRequest || route == nil || padded || len(headers) > 0 || o.path == "/mcp" {
		return r.status
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if doc.checkRequest(route, request, body) == nil && !beyondSchema(r, body) {
		t.Errorf("%s: openapi.yaml allows it", told)
	}
	return r.status
}

// beyondSchema reports whether a request was rejected by a rule that the document states in prose,
// because a schema cannot express it, or because the validator is lenient (it accepts 0 as a
// boolean).
func beyondSchema(r *response, body string) bool {
	if !utf8.ValidString(body) || body != "" && !json.Valid([]byte(body)) {
		return true
	}
	for _, e := range r.problem().Errors {
		if slices.ContainsFunc(strings.Split(strings.TrimSpace(inWords), "\n"), func(rule string) bool {
			return strings.HasPrefix(e.Message, rule) || strings.HasSuffix(e.Message, rule)
		}) {
			return true
		}
	}
	return false
}

// inWords are those rules, by how their messages begin or end.
//
//go:embed testdata/in_words.txt
var inWords string

// body returns a JSON object for a schema, sometimes malformed.
func (m maker) body(schema *openapi3.Schema) string {
	text, err := json.Marshal(m.value(schema, 0))
	if err != nil {
		panic(err)
	}
	body := string(text)
	switch m.IntN(30) {
	case 0:
		return body[:m.IntN(len(body)+1)]
	case 1:
		return body + pickOf(m, "{}", "x", "\x00", " ,")
	case 2:
		at := m.IntN(len(body) + 1)
		return body[:at] + pickOf(m, "\xff", "\"", "\\", "\x00", "{", "1e999", "[[[[") + body[at:]
	case 3:
		return pickOf(m, "[]", "null", "1", `""`, "{", strings.Repeat("[", 20_000), `{"a":`+strings.Repeat("9", 400)+"}")
	}
	return body
}

// value returns a value for a schema; one in twelve has another type.
func (m maker) value(schema *openapi3.Schema, depth int) any {
	for _, one := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		if schema.Type == nil {
			return m.value(one.Value, depth)
		}
	}
	if m.oneIn(12) {
		return pickOf[any](m, nil, true, -1, 0, 1.5, 1e300, m.text(20), []any{}, []any{nil, 1}, map[string]any{}, json.Number("92233720368547758080"))
	}
	if len(schema.Enum) > 0 && !m.oneIn(12) {
		return pickOf(m, schema.Enum...)
	}
	switch {
	case schema.Type == nil:
		return m.text(20)
	case schema.Type.Is("object"):
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, name) && !m.oneIn(20) || m.oneIn(3) {
				object[name] = m.value(schema.Properties[name].Value, depth+1)
			}
		}
		if m.oneIn(25) {
			object[m.text(10)] = m.text(10)
		}
		return object
	case schema.Type.Is("array"):
		array := []any{}
		for range m.IntN(6) {
			array = append(array, m.value(schema.Items.Value, depth+1))
		}
		return array
	case schema.Type.Is("boolean"):
		return m.oneIn(2)
	case schema.Type.Is("integer"):
		low, high := bounds(schema, 1, 40)
		return pickOf(m, int64(low), int64(high), int64(low)+m.Int64N(int64(min(high-low, 1e6))+1), int64(low)-1, int64(high)+1)
	case schema.Type.Is("number"):
		low, high := bounds(schema, 0, 1)
		return pickOf(m, low, high, low+m.Float64()*(high-low), low-0.001, high+0.001)
	case schema.Format == "uuid":
		return pickOf(m, append(m.documents, fmt.Sprintf("%08x-0000-4000-8000-%012x", m.Uint32(), m.Uint64N(1<<48)))...)
	}
	longest := 40
	if schema.MaxLength != nil {
		longest = int(min(*schema.MaxLength, 3000))
	}
	return pickOf(m, m.text(10), m.text(40), m.text(longest), strings.Repeat(m.text(3), longest/3), pickOf(m,
		"TX-400", "To Do", "payment gateway timeout", `"charged twice" -refund`, "resolve login issue", "-", `"`, "tx 400 tx-401"))
}

func bounds(schema *openapi3.Schema, low, high float64) (float64, float64) {
	if schema.Min != nil {
		low = *schema.Min
	}
	if schema.Max != nil {
		high = *schema.Max
	}
	return low, high
}

// text returns a text of characters that some software treats specially.
func (m maker) text(longest int) string {
	var b strings.Builder
	for range m.IntN(max(1, longest) + 1) {
		b.WriteString(pickOf(m, "a", "e", " ", "login", "-", `"`, "'", "\\", "%", "_", "(", ")", ":", "*", "&", "|", "!", "<", ">", "<->", "\t", "\n",
			"é", "ß", "İ", "漢", "字", "🙂", "\u200d", "\u0301", "\uFEFF", "\u202e", "\u0000", "\uE000", "0", "42", "$1", ";", "/", ".", ",", "{", "}", "[", "]", "[1]"))
	}
	return b.String()
}
