package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"tasklens/server/console"
)

// What operations do, by their ids: a section each, with the descriptions of responses
// ("200: …") and examples of requests ("Example, a page: `{…}`").
//
//go:embed operations.md
var operationTexts string

var (
	responseLine = regexp.MustCompile(`(?m)^([0-9]{3}): (.+)\n`)
	exampleLine  = regexp.MustCompile("(?m)^Example, (.+): `(.+)`\n")
	parameterOf  = regexp.MustCompile(`:(\w+)`)
)

// failureNames are the responses of openapi.yaml to requests that fail, in failureStatuses' order.
var failureNames = map[int]string{
	400: "Invalid", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge", 415: "UnsupportedMediaType",
	429: "RateLimited", 431: "HeadersTooLarge", 500: "Internal", 502: "ModelFailed", 503: "Unavailable", 504: "Timeout",
}

var failureStatuses = slices.Sorted(maps.Keys(failureNames))

// newDocument returns the OpenAPI document: what is in openapi.yaml, and the operations of the
// table that have types.
func newDocument() (*yaml.Node, error) {
	var whole yaml.Node
	if err := yaml.Unmarshal(openAPI, &whole); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	root := whole.Content[0]
	paths, named := find(root, "paths"), &schemas{known: map[string]bool{}}
	for _, r := range (&API{Parts: Parts{MetricsHere: true, Console: &console.Console{}}}).table() {
		if r.gives == nil {
			continue
		}
		path := parameterOf.ReplaceAllString(r.path, "{$1}")
		item := find(paths, path)
		if item == nil {
			item = &yaml.Node{Kind: yaml.MappingNode}
			paths.Content = append(paths.Content, scalar(path), item)
		}
		item.Content = append(item.Content, scalar(strings.ToLower(r.method)), node(named.operation(r)))
	}
	all := find(find(root, "components"), "schemas")
	all.Content = append(all.Content, node(named.named).Content...)
	return &whole, nil
}

// operation describes one route.
func (s *schemas) operation(r route) object {
	text := section(r.id)
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
		if len(requests) > 0 {
			var shown object
			for i, one := range requests {
				shown.add("example"+strconv.Itoa(i+1), object{{"summary", one[1]}, {"value", json.RawMessage(one[2])}})
			}
			content.add("examples", shown)
		} else {
			content.add("example", example(r.takes, ""))
		}
		o.add("requestBody", object{{"required", slices.ContainsFunc(bodyFields(r.takes), isRequired)}, {"content", object{{fiber.MIMEApplicationJSON, content}}}})
	}
	s.request = false
	headers := []string{"X-Request-Id"}
	if r.needs != open {
		headers = append(headers, "RateLimit", "RateLimit-Policy")
	}
	if slices.Contains(r.also, cached) {
		headers = append(headers, "Cache-Status")
	}
	var responses object
	for _, line := range statuses {
		response := object{{"description", line[2]}, {"headers", headerReferences(headers)}}
		if r.gives != reflect.TypeFor[nothing]() {
			content := object{{"schema", s.structure(r.gives)}, {"example", example(r.gives, "")}}
			response.add("content", object{{fiber.MIMEApplicationJSON, content}})
		}
		responses.add(line[1], response)
	}
	for _, status := range failureStatuses {
		if r.mayFail(status, hasBody) {
			responses.add(strconv.Itoa(status), object{{"$ref", "#/components/responses/" + failureNames[status]}})
		}
	}
	o.add("responses", responses)
	return o
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
		schema := object{{"type", "string"}}
		if field.Type.Kind() != reflect.Struct {
			schema = s.of(field.Type, field.Tag)
		}
		schema = slices.DeleteFunc(schema, func(m member) bool { return m.name == "description" || m.name == "example" })
		p.add("schema", schema)
		if text := field.Tag.Get("doc"); text != "" {
			p.add("description", inCode(text))
		}
		p.addTag("example", field.Tag, "example")
		all = append(all, p)
	}
	return all
}

// section is what operations.md says of an operation.
func section(id string) string {
	_, text, _ := strings.Cut(operationTexts, "\n## "+id+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text) + "\n"
}

func headerReferences(names []string) (all object) {
	for _, name := range names {
		all.add(name, object{{"$ref", "#/components/headers/" + name}})
	}
	return all
}

// find returns the value of a key, or nil.
func find(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func scalar(text string) (n *yaml.Node) {
	n = &yaml.Node{}
	n.SetString(text)
	if strings.Trim(text, "0123456789") == "" { // a status is a text
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// node returns a value as YAML. Objects keep their order, and the lines of texts are cut nowhere.
func node(value any) *yaml.Node {
	n := &yaml.Node{}
	switch value := value.(type) {
	case object:
		n.Kind = yaml.MappingNode
		for _, m := range value {
			n.Content = append(n.Content, scalar(m.name), node(m.value))
		}
	case []any:
		n.Kind = yaml.SequenceNode
		for _, element := range value {
			n.Content = append(n.Content, node(element))
		}
	case json.RawMessage:
		var parsed yaml.Node
		if err := yaml.Unmarshal(bytes.ReplaceAll(value, []byte("\t"), []byte(" ")), &parsed); err != nil {
			panic(err) // not JSON: a test reads all of them
		}
		return parsed.Content[0]
	default:
		if err := n.Encode(value); err != nil {
			panic(err)
		}
	}
	return n
}
