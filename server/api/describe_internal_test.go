package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"tasklens/internal/fault"
	"tasklens/server/console"
)

// What the API is, and what its operations do, by their ids: a row of the table, or a section with
// the descriptions of responses ("200: …") and examples of requests ("Example, a page: `{…}`").
//
//go:embed operations.md
var operationTexts string

var update = flag.Bool("update", false, "rewrite openapi.yaml")

// openapi.yaml says what the table of routes, the structs and operations.md say.
func TestDocumentIsGenerated(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(newDocument())
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node // JSON is YAML, too
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	inBlocks(&document)
	var written bytes.Buffer
	encoder := yaml.NewEncoder(&written)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", written.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(written.Bytes(), documentYAML) {
		t.Error("openapi.yaml is not what the code says: go test ./server/api -run DocumentIsGenerated -update")
	}
}

// inBlocks gives each value the style that people write it in.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		inBlocks(inner)
	}
}

var (
	responseLine = regexp.MustCompile(`(?m)^([0-9]{3}): (.+)\n`)
	exampleLine  = regexp.MustCompile("(?m)^Example, (.+): `(.+)`\n")
	failureRow   = regexp.MustCompile(`(?m)^\| ([0-9]{3}) \| (\w+) \| (.+) \| (.*) \|$`)
	parameterOf  = regexp.MustCompile(`:(\w+)`)
)

// responseHeaders are those that the document names.
type responseHeaders struct {
	RequestID   string `header:"X-Request-Id" pattern:"^[A-Za-z0-9._:-]{1,128}$" example:"1f7a0f5e-3f0e-4b58-8f68-3d2f0a5d9a52" doc:"The id in the service's log: the request's own if it is valid, otherwise a new one."`
	CacheStatus string `header:"Cache-Status" optional:"" pattern:"^tasklens; (hit|fwd=(miss(; (stored|collapsed))?|bypass))$" doc:"~hit~: from the cache. ~fwd=miss~: computed, and ~stored~, or ~collapsed~ with an identical concurrent request. ~fwd=bypass~: the cache is off (RFC 9211)."`
	RateLimit   string `header:"RateLimit" optional:"" pattern:"^\"requests\";r=[0-9]+;t=[0-9]+$" example:"\"\\\"requests\\\";r=1187;t=1\"" doc:"Requests left (~r~), and seconds until the whole quota is back (~t~), as in draft-ietf-httpapi-ratelimit-headers-10."`
	Policy      string `header:"RateLimit-Policy" optional:"" pattern:"^\"requests\";q=[0-9]+;w=[0-9]+$" example:"\"\\\"requests\\\";q=1200;w=60\"" doc:"A caller's quota: requests (~q~) per seconds (~w~)."`
	RetryAfter  int    `header:"Retry-After" min:"1" example:"5" doc:"Seconds to wait before trying again."`
	Challenge   string `header:"WWW-Authenticate" pattern:"^Bearer( resource_metadata=\"[^\"]+\"(, error=\"invalid_token\")?)?$" doc:"How to authenticate; that of ~/mcp~ names the metadata of RFC 9728."`
}

// shown is an example of a problem.
func (f failure) shown() problemBody {
	body := problemBody{Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Code: f.code, Detail: f.detail, RequestID: "1f7a0f5e-3f0e-4b58-8f68-3d2f0a5d9a52"}
	if f.status == http.StatusBadRequest {
		body.Errors = []fault.Field{{Name: "limit", Message: "must be an integer from 1 to 100"}, {Name: "quary", Message: "is not a field of this request"}}
	}
	return body
}

// documentedFailure is what operations.md says of a status that several operations have.
type documentedFailure struct {
	failure
	name, meaning string
	headers       []string
}

func documentedFailures() (all []documentedFailure) {
	for _, row := range failureRow.FindAllStringSubmatch(operationTexts, -1) {
		at := slices.IndexFunc(failures, func(f failure) bool { return strconv.Itoa(f.status) == row[1] })
		headers := append([]string{"X-Request-Id"}, strings.FieldsFunc(row[4], func(r rune) bool { return r == ',' || r == ' ' })...)
		all = append(all, documentedFailure{failures[at], row[2], row[3], headers})
	}
	return all
}

func (f failure) content(s *schemas) member {
	return member{"application/problem+json", object{{"schema", s.structure(reflect.TypeFor[problemBody]())}, {"example", f.shown()}}}
}

// newDocument returns the OpenAPI document: what the table of routes says of each operation.
func newDocument() object {
	named := &schemas{known: map[string]bool{}}
	var paths, headers, responses object
	for _, r := range (&API{Parts: Parts{MetricsHere: true, Console: &console.Console{}}}).table() {
		path := parameterOf.ReplaceAllString(r.path, "{$1}")
		operation := member{strings.ToLower(r.method), named.operation(r)}
		if at := slices.IndexFunc(paths, func(m member) bool { return m.name == path }); at >= 0 {
			paths[at].value = append(paths[at].value.(object), operation)
		} else {
			paths.add(path, object{operation})
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[responseHeaders]()) {
		described := named.parameter(field)
		if _, optional := field.Tag.Lookup("optional"); !optional {
			described.add("required", true)
		}
		headers.add(field.Tag.Get("header"), described)
	}
	for _, f := range documentedFailures() {
		responses.add(f.name, object{{"description", f.meaning}, {"headers", headerReferences(f.headers)}, {"content", object{f.content(named)}}})
	}
	named.named = append(named.named, member{"ProblemCode", problemCodes()}, member{"NamedEntities", namedEntities})
	about, _, _ := strings.Cut(strings.TrimPrefix(operationTexts, "# The API\n\n"), "\n# ")
	return object{
		{"openapi", "3.0.3"}, {"info", object{{"title", "tasklens"}, {"version", "1"}, {"description", about}}}, {"tags", documentTags},
		{"security", []any{object{}, object{{"accessToken", []any{}}}}}, {"paths", paths},
		{"components", object{{"securitySchemes", object{{"accessToken", accessToken}}}, {"headers", headers}, {"responses", responses}, {"schemas", named.named}}},
	}
}

var documentTags = []any{
	object{{"name", "search"}, {"description", "Find tickets and projects, and answer questions from them."}},
	object{{"name", "embeddings"}, {"description", "Keep embeddings up to date with the texts."}},
	object{{"name", "filters"}, {"description", "List what a search can be narrowed to."}},
	object{{"name", "knowledge"}, {"description", "Documents: decisions, runbooks, notes."}},
	object{{"name", "assistants"}, {"description", "Tools for assistants: the Model Context Protocol."}},
	object{{"name", "operations"}, {"description", "Health, metrics and this document."}},
}

var accessToken = object{{"type", "http"}, {"scheme", "bearer"}, {"bearerFormat", "JWT"},
	{"description", "A Supabase access token of the project, or the service's key."}}

// namedEntities are passed on as they are stored.
var namedEntities = object{{"type", "array"}, {"description", "Written entities, then those of enrichment."}, {"items", object{
	{"type", "object"}, {"required", []string{"name"}},
	{"properties", object{{"name", object{{"type", "string"}}}, {"type", object{{"type", "string"}, {"nullable", true}}}}},
}}}

func problemCodes() object {
	codes := append([]string{}, fault.Reasons...)
	for _, f := range failures {
		codes = append(codes, f.code)
	}
	slices.Sort(codes)
	return object{{"type", "string"}, {"enum", slices.Compact(codes)},
		{"description", "`docs/api.md` says when each occurs. More may be added; then act by the status."}}
}

// operation describes one route.
func (s *schemas) operation(r route) object {
	text := section(r)
	statuses := responseLine.FindAllStringSubmatch(text, -1)
	requests := exampleLine.FindAllStringSubmatch(text, -1)
	text = strings.TrimSpace(exampleLine.ReplaceAllString(responseLine.ReplaceAllString(text, ""), ""))
	o := object{{"operationId", r.id}, {"tags", []string{r.tag}}, {"summary", r.summary}, {"description", text}}
	if r.needs == open {
		o.add("security", []any{})
	}
	s.request = true
	if parameters := s.parameters(r.takes); parameters != nil {
		o.add("parameters", parameters)
	}
	hasBody := len(bodyFields(r.takes)) > 0
	if hasBody {
		content := object{{"schema", s.structure(r.takes)}}
		var shown object
		for i, one := range requests {
			shown.add("example"+strconv.Itoa(i+1), object{{"summary", one[1]}, {"value", json.RawMessage(one[2])}})
		}
		if shown != nil {
			content.add("examples", shown)
		}
		o.add("requestBody", object{{"required", slices.ContainsFunc(bodyFields(r.takes), isRequired)}, {"content", object{{fiber.MIMEApplicationJSON, content}}}})
	}
	s.request = false
	var responses object
	for _, line := range statuses {
		responses.add(line[1], s.response(r, line[1], line[2]))
	}
	if slices.Contains(r.also, http.StatusNotModified) {
		responses.add("304", object{{"description", "It has not changed."}, {"headers", headerReferences([]string{"X-Request-Id"})}})
	}
	for _, f := range documentedFailures() {
		status := strconv.Itoa(f.status)
		if known := slices.ContainsFunc(responses, func(m member) bool { return m.name == status }); !known && r.mayFail(f.status, hasBody) {
			responses.add(status, object{{"$ref", "#/components/responses/" + f.name}})
		}
	}
	o.add("responses", responses)
	return o
}

// response describes the response of one status.
func (s *schemas) response(r route, status, about string) object {
	headers := []string{"X-Request-Id"}
	if r.needs != open {
		headers = append(headers, "RateLimit", "RateLimit-Policy")
	}
	if slices.Contains(r.also, cached) {
		headers = append(headers, "Cache-Status")
	}
	gives := r.gives
	if status >= "400" {
		headers, gives = headers[:1], r.errs
	}
	var content object
	for _, media := range r.media {
		schema := object{}
		if media == fiber.MIMETextPlain {
			schema.add("schema", object{{"type", "string"}})
		}
		content.add(media, schema)
	}
	if gives != reflect.TypeFor[nothing]() && status != "202" {
		content.add(fiber.MIMEApplicationJSON, object{{"schema", s.structure(gives)}})
	}
	if r.events != nil {
		content.add(mimeEvents, object{{"schema", s.stream(r)}})
	}
	for _, f := range documentedFailures() {
		if strconv.Itoa(f.status) == status && r.needs != open {
			content = append(content, f.content(s))
		}
	}
	response := object{{"description", about}, {"headers", headerReferences(headers)}}
	if content != nil {
		response.add("content", content)
	}
	return response
}

// stream describes the events of a route, and returns the schema of what their stream ends with.
func (s *schemas) stream(r route) object {
	var kinds []any
	for _, e := range r.events {
		kinds = append(kinds, object{{"type", "object"}, {"additionalProperties", false}, {"required", []string{"event", "data"}}, {"properties", object{
			{"event", object{{"type", "string"}, {"enum", []string{e.name}}}}, {"data", s.structure(e.data)},
		}}})
	}
	name := strings.ToUpper(r.id[:1]) + r.id[1:] + "Event"
	s.named.add(name, object{{"description", "An event of a stream, by its name and its data."}, {"oneOf", kinds}})
	return object{
		{"description", "The data of the event `done`. All events are those of `" + name + "`, each with its data in one line of JSON."},
		{"allOf", []any{s.structure(r.gives)}},
	}
}

// mayFail reports whether a route may answer with a status.
func (r route) mayFail(status int, hasBody bool) bool {
	switch status {
	case http.StatusMethodNotAllowed:
		return true
	case http.StatusNotFound, http.StatusBadGateway:
		return slices.Contains(r.also, status)
	case http.StatusUnsupportedMediaType:
		return hasBody
	default:
		return r.needs != open || slices.Contains(r.also, status)
	}
}

// parameters describes the parameters of a request.
func (s *schemas) parameters(takes reflect.Type) (all []any) {
	for _, field := range reflect.VisibleFields(takes) {
		in, name := "path", field.Tag.Get("path")
		if name == "" {
			in, name = "query", field.Tag.Get("query")
		}
		if name == "" {
			continue
		}
		p := object{{"name", name}, {"in", in}}
		_, optional := field.Tag.Lookup("default")
		optional = optional || field.Type.Kind() == reflect.Pointer || field.Tag.Get("optional") != ""
		if in == "path" || !optional {
			p.add("required", true)
		} else {
			p.add("allowEmptyValue", true)
		}
		all = append(all, append(p, s.parameter(field)...))
	}
	return all
}

// parameter describes a text or a number outside of JSON.
func (s *schemas) parameter(field reflect.StructField) (p object) {
	schema := object{{"type", "string"}}
	if field.Type != filtersType {
		schema = s.of(field.Type, field.Tag)
	}
	schema = slices.DeleteFunc(schema, func(m member) bool { return m.name == "description" || m.name == "example" })
	p.add("schema", schema)
	if text := field.Tag.Get("doc"); text != "" {
		p.add("description", inCode(text))
	}
	p.addTag("example", field.Tag, "example")
	return p
}

// section is what operations.md says of an operation.
func section(r route) string {
	if _, row, found := strings.Cut(operationTexts, "\n| `"+r.id+"` | "); found {
		status := "200"
		if r.gives == reflect.TypeFor[nothing]() && r.media == nil {
			status = "204"
		}
		row, _, _ = strings.Cut(row, " |\n")
		return strings.Replace(row, " | ", "\n"+status+": ", 1) + "\n"
	}
	_, text, _ := strings.Cut(operationTexts, "\n## "+r.id+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text) + "\n"
}

func headerReferences(names []string) (all object) {
	for _, name := range names {
		all.add(name, object{{"$ref", "#/components/headers/" + name}})
	}
	return all
}
