package openai

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// change is a way in which a server's dialect departs from OpenAI's.
type change struct {
	name    string         // for the log
	refused *regexp.Regexp // how servers name what they refuse
	apply   func(body map[string]any) (applies bool)
}

// changes are in the order in which they are tried: those first that cost nothing.
var changes = []change{
	{"max_completion_tokens instead of max_tokens", regexp.MustCompile(`(?i)\bmax_tokens\b`), func(body map[string]any) bool {
		most, has := body["max_tokens"]
		delete(body, "max_tokens")
		if has {
			body["max_completion_tokens"] = most
		}
		return has
	}},
	{"no stream_options", regexp.MustCompile(`(?i)stream_options|include_usage`), without("stream_options")},
	{"no encoding_format", regexp.MustCompile(`(?i)encoding_format|base64`), without("encoding_format")},
	{"no parallel_tool_calls", regexp.MustCompile(`(?i)parallel_tool|` + sayTools), without("parallel_tool_calls")},
	{"tools without strict", regexp.MustCompile(`(?i)\bstrict\b|additional_?properties|` + sayTools), func(body map[string]any) bool {
		list, has := body["tools"].([]tool)
		if !has || !list[0].Function.Strict {
			return false
		}
		loose := list[0]
		schema, _ := json.Marshal(loose.Function.Parameters)
		loose.Function.Strict = false
		loose.Function.Parameters = json.RawMessage(strings.ReplaceAll(string(schema), `"additionalProperties":false,`, ""))
		body["tools"] = []tool{loose}
		return true
	}},
	{"json_object instead of json_schema", regexp.MustCompile(`(?i)response_format|json_schema|structured.?output|grammar|guided`), func(body map[string]any) bool {
		format, _ := body["response_format"].(map[string]any)
		if format["type"] != "json_schema" {
			return false
		}
		schema, _ := json.Marshal(format["json_schema"].(map[string]any)["schema"])
		body["response_format"] = map[string]any{"type": "json_object"}
		messages := slices.Clone(body["messages"].([]message))
		messages[0].Content += "\n\nAnswer with one JSON object of this JSON Schema and nothing else:\n" + string(schema)
		body["messages"] = messages
		return true
	}},
	{"no response_format", regexp.MustCompile(`(?i)response_format|json_object|json.?mode`), func(body map[string]any) bool {
		format, _ := body["response_format"].(map[string]any)
		return format["type"] == "json_object" && without("response_format")(body)
	}},
	{"no system message", regexp.MustCompile(`(?i)system.{0,3}(role|message|prompt|instruction)|roles?\b.{0,60}(system|alternat)|developer instruction`), func(body map[string]any) bool {
		messages, _ := body["messages"].([]message)
		if len(messages) != 2 {
			return false
		}
		body["messages"] = []message{{"user", messages[0].Content + "\n\n" + messages[1].Content}}
		return true
	}},
	{"no tools: counts and lists of tickets are off", regexp.MustCompile(sayTools), func(body map[string]any) bool {
		_, has := body["parallel_tool_calls"] // which the server may mean, or strict
		list, _ := body["tools"].([]tool)
		return !has && len(list) > 0 && !list[0].Function.Strict && without("tools")(body)
	}},
}

const sayTools = `(?i)\btools?\b|\bfunction.?call`

// tool is what the model may call.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Strict      bool   `json:"strict,omitempty"`
	Parameters  any    `json:"parameters"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func without(field string) func(map[string]any) bool {
	return func(body map[string]any) bool {
		_, has := body[field]
		delete(body, field)
		return has
	}
}

// dialect is what a server has shown of its dialect. What it refuses is remembered once a request
// without it has passed.
type dialect struct {
	mutex  sync.Mutex
	known  uint           // bits of changes
	doubts map[string]int // by form of a request: how often the changes did not help; settled once it has passed
}

// shape returns a request with some of the changes.
func shape(body map[string]any, changed uint) map[string]any {
	body = maps.Clone(body)
	for i, c := range changes {
		if changed&(1<<i) != 0 {
			c.apply(body)
		}
	}
	return body
}

// form names the fields of a request.
func form(body map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(body)), " ") }

// next returns the changes to try after a refusal: those of what it names, else one more. It
// returns what was tried if the refusal is about something else.
func (d *dialect) next(r *refusal, body map[string]any, tried uint) uint {
	if !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented, http.StatusInternalServerError}, r.status) ||
		r.isFilter() || r.says(sayTooLarge) {
		return tried
	}
	named, first := tried, uint(0)
	for i, c := range changes {
		if bit := uint(1) << i; tried&bit == 0 && c.apply(shape(body, tried)) {
			if r.says(c.refused) {
				named |= bit
			} else if first == 0 {
				first = bit
			}
		}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if named != tried || r.status >= http.StatusInternalServerError || r.status == http.StatusNotFound || d.doubts[form(body)] >= settled {
		return named
	}
	if first == 0 {
		d.doubts[form(body)]++
	}
	return tried | first
}

// settled is how often requests of a form are tried in other forms in vain.
const settled = 3

// learn records that a request has passed, and returns which changes are new.
func (d *dialect) learn(body map[string]any, changed uint) (added []string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for i, c := range changes {
		if changed&^d.known&(1<<i) != 0 {
			added = append(added, c.name)
		}
	}
	d.known |= changed
	d.doubts[form(body)] = settled
	return added
}

func (d *dialect) changed() uint {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.known
}
