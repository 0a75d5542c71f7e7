package mcp

import (
	"encoding/json"
	"slices"
	"strings"
)

// text is an argument that is a string, "" where it is left out.
func (c *call) text(name string) (text string, err error) {
	if value := c.arguments[name]; value != nil && json.Unmarshal(value, &text) != nil {
		return "", refuse("%s: must be a string. Correct it and call again.", name)
	}
	return text, nil
}

// integer is an argument that is an integer, or its default.
func (c *call) integer(name string, fallback, low, high int) (int, error) {
	value := c.arguments[name]
	if value == nil {
		return fallback, nil
	}
	var number int
	if json.Unmarshal(value, &number) != nil || number < low || number > high {
		return 0, refuse("%s: must be an integer from %d to %d. Correct it and call again.", name, low, high)
	}
	return number, nil
}

// fields is the argument of this name: which fields a result shall have besides the usual ones.
func (c *call) fields(usual, more []string) ([]string, error) {
	var wanted []string
	if value := c.arguments["fields"]; value != nil && json.Unmarshal(value, &wanted) != nil {
		return nil, refuse("fields: must be a list of strings. Correct it and call again.")
	}
	for _, name := range wanted {
		if !slices.Contains(usual, name) && !slices.Contains(more, name) {
			return nil, refuse("fields: %s is not a field. There are %s.", short(name), strings.Join(more, ", "))
		}
	}
	return wanted, nil
}

// pass gives the arguments of these names as they came, for the body of a request: the API says
// what is wrong with them.
func (c *call) pass(names ...string) map[string]any {
	body := map[string]any{}
	for _, name := range names {
		if value := c.arguments[name]; value != nil {
			body[name] = value
		}
	}
	return body
}

// maxName bounds what an error repeats of a caller's own text.
const maxName = 100

// short is a caller's own text as an error repeats it.
func short(text string) string { return clip(line(text), maxName) }
