package api_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// route takes a body: a valid one, its text field, and that field's maximum length.
var postRoutes = []struct {
	path, good, text string
	most             int
}{
	{"/api/embeddings/generate", `{"project_id":1}`, "", 0},
	{"/api/query", `{"question":"why"}`, "question", 2000},
	{"/api/hybrid-search", `{"query":"why"}`, "query", 2000},
	{"/api/tickets/similar", `{"text":"why"}`, "text", 100_000},
}

// invalid is an invalid body and the fields that the response must name.
type invalid struct {
	name   string
	body   string
	fields []string
	beyond bool // a rule that openapi.yaml cannot express
}

// refuse expects a 400 that names the fields, and that openapi.yaml rejects the body too.
func (s *service) refuse(path string, c invalid) {
	s.t.Helper()
	p := s.send(http.MethodPost, path, c.body, "Content-Type", "application/json").want(http.StatusBadRequest).problem()
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
	}
	slices.Sort(fields)
	slices.Sort(c.fields)
	if !slices.Equal(fields, c.fields) {
		s.t.Errorf("%s, %s: the answer names %q, not %q", path, c.name, fields, c.fields)
	}
	request, err := http.NewRequest(http.MethodPost, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	doc := theDocument(s.t)
	if refused := doc.checkRequest(doc.route(request), request, c.body) != nil; refused == c.beyond {
		s.t.Errorf("%s, %s: openapi.yaml refuses it: %t", path, c.name, refused)
	}
}

func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, route := range postRoutes {
		inside := strings.TrimSuffix(route.good, "}")
		required := "project_id"
		if route.text != "" {
			required = route.text
		}
		for _, c := range []invalid{
			{name: "empty", body: "", beyond: false},
			{name: "blank", body: " \n"},
			{name: "null", body: "null"},
			{name: "array", body: "[" + route.good + "]"},
			{name: "string", body: `"` + strings.ReplaceAll(route.good, `"`, `\"`) + `"`},
			{name: "number", body: "1"},
			{name: "no JSON", body: "query=why"},
			{name: "cut off", body: inside},
			{name: "comma at the end", body: inside + ",}"},
			{name: "single quotes", body: strings.ReplaceAll(route.good, `"`, "'")},
			{name: "comment", body: inside + "/* x */}"},
			{name: "trailing data", body: route.good + "x", beyond: true},
			{name: "two objects", body: route.good + route.good, beyond: true},
			{name: "byte order mark", body: "\ufeff" + route.good},
			{name: "invalid UTF-8", body: inside + `,"note":"` + "\xff" + `"}`, fields: []string{"note"}},
			{name: "no field", body: "{}", fields: []string{required}},
			{name: "null for the required", body: `{"` + required + `":null}`, fields: []string{required}},
			{name: "name in other case", body: strings.Replace(route.good, required, strings.ToUpper(required), 1), fields: []string{required, strings.ToUpper(required)}},
			{name: "unknown field", body: inside + `,"colour":1}`, fields: []string{"colour"}},
			{name: "several faults", body: `{"colour":1,"project_ids":[],"` + required + `":{}}`, fields: []string{"colour", "project_ids", required}},
			{name: "given twice", body: inside + "," + strings.TrimPrefix(route.good, "{"), fields: []string{required}, beyond: true},
			{name: "null, then given", body: `{"` + required + `":null,` + strings.TrimPrefix(route.good, "{"), fields: []string{required}, beyond: true},
			{name: "empty name", body: inside + `,"":1}`, fields: []string{""}},
		} {
			s.refuse(route.path, c)
		}
		for field, values := range map[string]string{
			"project_id":      `0|-1|1.5|"1"|true|[1]|{}|1e400|9223372036854775808`,
			"ticket_id":       `0|-1|1.5|"1"|true|[1]|{}`,
			"force":           `0|1|"true"|[]`,
			"status_filter":   `1|true|["To Do"]|{}|"` + strings.Repeat("x", 201) + `"`,
			"limit":           `0|-1|101|1.5|"10"|true|1e2x`,
			"offset":          `-1|1000|1.5|"0"|9999999999999999999`,
			"match_threshold": `-0.1|1.1|"0.7"|true|[0.7]|NaN`,
			"mmr_lambda":      `-0.0001|1.0001|"0.5"|{}|1e999`,
			"top_k":           `0|-1|21|1.5|"5"`,
			"corpus":          `"document"|"Tickets"|1|["all"]`,
			"retrieval":       `"Keyword"|"Hybrid"|1|["hybrid"]`,
			"fusion":          `"sum"|"RRF"|1|["rrf"]`,
			"stream":          `1|"false"|0`,
			"explain":         `0|1|"true"|[]`,
			"facets":          `0|1|"true"|[]`,
			"sort":            `"oldest"|"Newest"|1|["newest"]`,
			"filters":         `1|"open"|true|[]|[{}]`,
		} {
			for value := range strings.SplitSeq(values, "|") {
				body := inside + `,"` + field + `":` + value + "}"
				if field == required {
					body = `{"` + field + `":` + value + "}"
				}
				c := invalid{name: field + " " + value[:min(len(value), 20)], body: body, fields: []string{field}}
				c.beyond = value == "9223372036854775808"
				if value == "1e2x" { // not valid JSON
					c.fields = nil
				}
				s.refuse(route.path, c)
			}
		}
		if route.text == "" {
			continue
		}
		for name, c := range map[string]struct {
			text   string
			beyond bool
		}{
			// Without a text to search for there is a list, if there are filters.
			"empty": {`""`, route.text == "query"}, "blank": {`"  \n\t "`, route.text == "query"}, "too long": {`"` + strings.Repeat("x", route.most+1) + `"`, false},
			"too long, of several bytes": {`"` + strings.Repeat("🥨", route.most+1) + `"`, false},
			"number":                     {"1", false}, "array": {`["a"]`, false}, "object": {"{}", false},
			"U+0000":      {`"a\u0000b"`, true},
			"half a pair": {`"a\ud83d b"`, true}, "the other half": {`"\ude00"`, true}, "two first halves": {`"\ud83d\ud83d"`, true},
			"half beside a pair": {`"\ud83d\ude00\\\ud83d"`, true},
			"invisible":          {`"\u200b \ufeff\u2060\u00ad\ufe0f\u3164\u2800\u0001"`, true},
		} {
			s.refuse(route.path, invalid{name: name, body: `{"` + route.text + `":` + c.text + `}`, fields: []string{route.text}, beyond: c.beyond})
		}
		if route.text != "text" {
			s.refuse(route.path, invalid{name: "U+0000", body: inside + `,"status_filter":"\u0000"}`, fields: []string{"status_filter"}, beyond: true})
		}
		s.send(http.MethodPost, route.path, `{"`+route.text+`":"why \uD83D\uDE00 \\ud83d"}`).want(http.StatusOK)
		s.post(route.path, map[string]any{route.text: strings.Repeat(" ", 50) + strings.Repeat("🥨", route.most) + "\n\n"}).want(http.StatusOK)
	}
	s.refuse("/api/hybrid-search", invalid{name: "reach", body: `{"query":"why","limit":100,"offset":901}`, fields: []string{"offset"}, beyond: true})
	s.refuse("/api/embeddings/generate", invalid{name: "a comment of no ticket", body: `{"project_id":1,"comment_id":1}`, fields: []string{"ticket_id"}, beyond: true})
	s.refuse("/api/hybrid-search", invalid{name: "reach with the default limit", body: `{"query":"why","offset":991}`, fields: []string{"offset"}, beyond: true})
	s.search("why", map[string]any{"limit": 100, "offset": 900})
	s.search("why", map[string]any{"offset": 990})
	if asked := len(s.model.requests("completions")); asked != 2 { // of good questions without sources
		t.Errorf("bad requests reached the chat model %d times", asked)
	}
}

// The size of a validation error is bounded.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := `{"query":"why"`
	for i := range 1000 {
		body += fmt.Sprintf(`,"%s%d":1`, strings.Repeat("ä", 200), i)
	}
	r := s.send(http.MethodPost, "/api/hybrid-search", body+"}").want(http.StatusBadRequest)
	if len(r.text) > 8000 || len(r.problem().Errors) != 20 {
		t.Errorf("%d bytes about %d faults", len(r.text), len(r.problem().Errors))
	}
	again := `{"query":"why"` + strings.Repeat(`,"query":1`, 1000) + "}"
	p := s.send(http.MethodPost, "/api/hybrid-search", again).want(http.StatusBadRequest).problem()
	if len(p.Errors) != 1 || p.Errors[0].Field != "query" || p.Errors[0].Message != "is given twice" {
		t.Errorf("the answer names %+v", p.Errors)
	}
}

// The number of elements and of query parameters is bounded.
func TestManyElements(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, most := range []int{50, 51, 1900} {
		body := `{"title":"x","content":"x","keywords":["k"` + strings.Repeat(`, "k"`, most-1) + `]}`
		r := s.send(http.MethodPost, "/api/knowledge/documents", body)
		if most == 50 {
			r.want(http.StatusCreated)
			continue
		}
		if p := r.want(http.StatusBadRequest).problem(); len(p.Errors) != 1 || p.Errors[0].Field != "keywords" || p.Errors[0].Message != "must have at most 50 elements" {
			t.Errorf("%d keywords: %+v", most, p.Errors)
		}
	}
	for _, path := range []string{"/api/knowledge/search?q=why", "/api/projects?"} {
		if p := s.get(path + strings.Repeat("&x", 1000)).want(http.StatusBadRequest).problem(); len(p.Errors) != 20 {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	s := start(t)
	const most = 1 << 20
	for _, route := range postRoutes {
		s.send(http.MethodPost, route.path, route.good+strings.Repeat(" ", most+1-len(route.good))).want(http.StatusRequestEntityTooLarge)
		request, err := http.NewRequest(http.MethodPost, s.url+route.path, io.MultiReader(strings.NewReader(strings.Repeat(" ", most)), strings.NewReader(route.good)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		s.do(request, "").want(http.StatusRequestEntityTooLarge) // chunked, without a Content-Length
		s.send(http.MethodPost, route.path, route.good, "X-Long", strings.Repeat("x", 17<<10)).want(http.StatusRequestHeaderFieldsTooLarge)
	}
	s.send(http.MethodPost, "/api/hybrid-search", `{"query":"why"}`+strings.Repeat(" ", most-15)).want(http.StatusOK)
	s.get("/api/projects", "X-Long", strings.Repeat("x", 12<<10)).want(http.StatusOK)
	s.get("/api/projects", "X-Long", strings.Repeat("x", 17<<10)).want(http.StatusRequestHeaderFieldsTooLarge)
}

// A client that sends its whole request before it reads can still read the response.
func TestStubbornClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn := s.dial(t)
	const size = 16 << 20 // more than the connection's buffers hold
	if _, err := fmt.Fprintf(conn, "POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "over the limit") {
		t.Errorf("%d: %s, %v", response.StatusCode, text, err)
	}
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := start(t, counting)
	for path, item := range theDocument(t).Paths.Map() {
		allowed := item.Operations()
		for _, other := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
			if allowed[other] != nil {
				continue
			}
			body := ""
			if other == "POST" || other == "PUT" {
				body = "{}"
			}
			r := s.send(other, path, body).want(http.StatusMethodNotAllowed)
			named := strings.Split(r.header.Get("Allow"), ", ")
			slices.Sort(named)
			if want := slices.Sorted(maps.Keys(allowed)); !slices.Equal(want, slices.DeleteFunc(named, func(method string) bool { return method == "HEAD" })) {
				t.Errorf("%s %s: Allow is %q", other, path, r.header.Get("Allow"))
			}
		}
	}
	for _, path := range []string{"/console", "/console/", "/console/x", "/api", "/api/", "/api/nothing", "/api/queries", "/api/query/1", "/metrics.json", "/api/projects/1", "/%00", "/..%2f..%2fetc/passwd"} {
		s.get(path).want(http.StatusNotFound)
		s.send(http.MethodPost, path, "{}").want(http.StatusNotFound)
		s.send("BREW", path, "").want(http.StatusNotFound)
	}
}
