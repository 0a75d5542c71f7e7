// Package describe writes an API's OpenAPI document from what a test of the API passes it: the
// table of its operations with the structs that they take and give, and the texts of
// operations.md. It owns how a struct and its tags become a schema.
package describe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const mimeJSON, mimeEvents = "application/json", "text/event-stream"

// API is what is described.
type API struct {
	Operations []Operation
	// Texts are what the API is, and what its operations do, by their ids: a row of the table, or a
	// section with the descriptions of responses ("200: …") and examples of requests ("Example, a
	// page: `{…}`").
	Texts    string
	Failures []Failure
	Problem  reflect.Type // of every failure
	Codes    []string     // of problems
	Nothing  reflect.Type // stands for no body
	Tags     Tags
	Elements int // the most of a list
}

// Operation is one of the API's. What it does not take or give is API.Nothing.
type Operation struct {
	ID, Tag, Summary, Method, Path string
	Open                           bool  // it needs no token
	Cached                         bool  // its responses have a Cache-Status
	Also                           []int // statuses that not every operation has
	Takes, Gives, Errs             reflect.Type
	Media                          []string // of what it gives, where that is no JSON
	Events                         []Event  // of which it sends a stream, if asked to
}

// Event is a server-sent event.
type Event struct {
	Name string
	Data reflect.Type
}

// Failure is what a status is documented with.
type Failure struct {
	Status int
	Shown  any // an example of the problem
}

// Tags are how the API reads the tags of its structs.
type Tags struct {
	Fields     func(reflect.Type) []reflect.StructField // that JSON has
	Name       func(reflect.StructField) string
	IsRequired func(reflect.StructField) bool
	Elements   func(reflect.StructTag) reflect.StructTag
}

// Document returns the document as YAML.
func Document(api API) ([]byte, error) {
	text, err := json.Marshal(newDocument(api))
	if err != nil {
		return nil, err
	}
	var document yaml.Node // JSON is YAML, too
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	inBlocks(&document)
	var written bytes.Buffer
	encoder := yaml.NewEncoder(&written)
	encoder.SetIndent(2)
	err = encoder.Encode(&document)
	return written.Bytes(), err
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

// documentedFailure is what operations.md says of a status that several operations have.
type documentedFailure struct {
	Failure
	name, meaning string
	headers       []string
}

func (a API) documentedFailures() (all []documentedFailure) {
	for _, row := range failureRow.FindAllStringSubmatch(a.Texts, -1) {
		at := slices.IndexFunc(a.Failures, func(f Failure) bool { return strconv.Itoa(f.Status) == row[1] })
		headers := append([]string{"X-Request-Id"}, strings.FieldsFunc(row[4], func(r rune) bool { return r == ',' || r == ' ' })...)
		all = append(all, documentedFailure{a.Failures[at], row[2], row[3], headers})
	}
	return all
}

func (s *schemas) problem(f Failure) member {
	return member{"application/problem+json", object{{"schema", s.structure(s.api.Problem)}, {"example", f.Shown}}}
}

// newDocument returns the OpenAPI document: what the table of routes says of each operation.
func newDocument(api API) object {
	named := &schemas{api: api, known: map[string]bool{}}
	var paths, headers, responses object
	for _, r := range api.Operations {
		path := parameterOf.ReplaceAllString(r.Path, "{$1}")
		operation := member{strings.ToLower(r.Method), named.operation(r)}
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
	for _, f := range api.documentedFailures() {
		responses.add(f.name, object{{"description", f.meaning}, {"headers", headerReferences(f.headers)}, {"content", object{named.problem(f.Failure)}}})
	}
	named.named = append(named.named, member{"ProblemCode", problemCodes(api.Codes)}, member{"NamedEntities", namedEntities})
	about, _, _ := strings.Cut(strings.TrimPrefix(api.Texts, "# The API\n\n"), "\n# ")
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

func problemCodes(codes []string) object {
	slices.Sort(codes)
	return object{{"type", "string"}, {"enum", slices.Compact(codes)},
		{"description", "`docs/api.md` says when each occurs. More may be added; then act by the status."}}
}

// operation describes one operation.
func (s *schemas) operation(r Operation) object {
	text := s.section(r)
	statuses := responseLine.FindAllStringSubmatch(text, -1)
	requests := exampleLine.FindAllStringSubmatch(text, -1)
	text = strings.TrimSpace(exampleLine.ReplaceAllString(responseLine.ReplaceAllString(text, ""), ""))
	o := object{{"operationId", r.ID}, {"tags", []string{r.Tag}}, {"summary", r.Summary}, {"description", text}}
	if r.Open {
		o.add("security", []any{})
	}
	s.request = true
	if parameters := s.parameters(r.Takes); parameters != nil {
		o.add("parameters", parameters)
	}
	hasBody := len(s.api.Tags.Fields(r.Takes)) > 0
	if hasBody {
		content := object{{"schema", s.structure(r.Takes)}}
		var shown object
		for i, one := range requests {
			shown.add("example"+strconv.Itoa(i+1), object{{"summary", one[1]}, {"value", json.RawMessage(one[2])}})
		}
		if shown != nil {
			content.add("examples", shown)
		}
		o.add("requestBody", object{{"required", slices.ContainsFunc(s.api.Tags.Fields(r.Takes), s.api.Tags.IsRequired)}, {"content", object{{mimeJSON, content}}}})
	}
	s.request = false
	var responses object
	for _, line := range statuses {
		responses.add(line[1], s.response(r, line[1], line[2]))
	}
	if slices.Contains(r.Also, http.StatusNotModified) {
		responses.add("304", object{{"description", "It has not changed."}, {"headers", headerReferences([]string{"X-Request-Id"})}})
	}
	for _, f := range s.api.documentedFailures() {
		status := strconv.Itoa(f.Status)
		if known := slices.ContainsFunc(responses, func(m member) bool { return m.name == status }); !known && r.mayFail(f.Status, hasBody) {
			responses.add(status, object{{"$ref", "#/components/responses/" + f.name}})
		}
	}
	o.add("responses", responses)
	return o
}

// response describes the response of one status.
func (s *schemas) response(r Operation, status, about string) object {
	headers := []string{"X-Request-Id"}
	if !r.Open {
		headers = append(headers, "RateLimit", "RateLimit-Policy")
	}
	if r.Cached {
		headers = append(headers, "Cache-Status")
	}
	gives := r.Gives
	if status >= "400" {
		headers, gives = headers[:1], r.Errs
	}
	var content object
	for _, media := range r.Media {
		schema := object{}
		if media == "text/plain" {
			schema.add("schema", object{{"type", "string"}})
		}
		content.add(media, schema)
	}
	if gives != s.api.Nothing && status != "202" {
		content.add(mimeJSON, object{{"schema", s.structure(gives)}})
	}
	if r.Events != nil {
		content.add(mimeEvents, object{{"schema", s.stream(r)}})
	}
	for _, f := range s.api.documentedFailures() {
		if strconv.Itoa(f.Status) == status && !r.Open {
			content = append(content, s.problem(f.Failure))
		}
	}
	response := object{{"description", about}, {"headers", headerReferences(headers)}}
	if content != nil {
		response.add("content", content)
	}
	return response
}

// stream describes the events of an operation, and returns the schema of what their stream ends
// with.
func (s *schemas) stream(r Operation) object {
	var kinds []any
	for _, e := range r.Events {
		kinds = append(kinds, object{{"type", "object"}, {"additionalProperties", false}, {"required", []string{"event", "data"}}, {"properties", object{
			{"event", object{{"type", "string"}, {"enum", []string{e.Name}}}}, {"data", s.structure(e.Data)},
		}}})
	}
	name := strings.ToUpper(r.ID[:1]) + r.ID[1:] + "Event"
	s.named.add(name, object{{"description", "An event of a stream, by its name and its data."}, {"oneOf", kinds}})
	return object{
		{"description", "The data of the event `done`. All events are those of `" + name + "`, each with its data in one line of JSON."},
		{"allOf", []any{s.structure(r.Gives)}},
	}
}

// mayFail reports whether an operation may answer with a status.
func (r Operation) mayFail(status int, hasBody bool) bool {
	switch status {
	case http.StatusMethodNotAllowed:
		return true
	case http.StatusNotFound, http.StatusBadGateway:
		return slices.Contains(r.Also, status)
	case http.StatusUnsupportedMediaType:
		return hasBody
	default:
		return !r.Open || slices.Contains(r.Also, status)
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
func (s *schemas) section(r Operation) string {
	if _, row, found := strings.Cut(s.api.Texts, "\n| `"+r.ID+"` | "); found {
		status := "200"
		if r.Gives == s.api.Nothing && r.Media == nil {
			status = "204"
		}
		row, _, _ = strings.Cut(row, " |\n")
		return strings.Replace(row, " | ", "\n"+status+": ", 1) + "\n"
	}
	_, text, _ := strings.Cut(s.api.Texts, "\n## "+r.ID+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text) + "\n"
}

func headerReferences(names []string) (all object) {
	for _, name := range names {
		all.add(name, object{{"$ref", "#/components/headers/" + name}})
	}
	return all
}
