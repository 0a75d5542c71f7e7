package mcp

import (
	"encoding/json"
	"slices"
	"strings"
)

// text returns a string argument, "" if it is absent.
func (c *call) text(name string) (text string, err error) {
	if value := c.arguments[name]; value != nil && json.Unmarshal(value, &text) != nil {
		return "", refuse("%s: must be a string. Correct it and call again.", name)
	}
	return text, nil
}

// integer returns an integer argument, or its default.
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

// fields returns the argument of this name: the fields a result has besides the usual ones.
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

// pass returns these arguments unchanged, for the body of a request. The API validates them.
func (c *call) pass(names ...string) map[string]any {
	body := map[string]any{}
	for _, name := range names {
		if value := c.arguments[name]; value != nil {
			body[name] = value
		}
	}
	return body
}

// maxName bounds how much of a caller's text an error repeats.
const maxName = 100

// short is a caller's text as an error repeats it.
func short(text string) string { return clip(line(text), maxName) }
