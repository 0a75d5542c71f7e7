package api

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"
)

// described is the document, written once.
var described struct {
	once       sync.Once
	yaml, json []byte
	err        error
}

// Document returns the OpenAPI document, which describes all that the service does over HTTP, as
// YAML and as JSON. Tests hold it against the service.
func Document() (asYAML, asJSON []byte, err error) {
	described.once.Do(func() {
		whole := node(newDocument())
		var values map[string]any
		var errs [3]error
		described.yaml, errs[0] = yaml.Marshal(whole)
		errs[1] = whole.Decode(&values)
		described.json, errs[2] = json.Marshal(values)
		described.err = errors.Join(errs[:]...)
	})
	return described.yaml, described.json, described.err
}

// anyDocument is the document as a response of its own.
type anyDocument struct {
	_ struct{} `open:"" example:"{\"openapi\": \"3.0.3\", \"info\": {\"title\": \"tasklens\", \"version\": \"1\"}, \"paths\": {}}"`
}

func describeYAML(c *fiber.Ctx) error {
	text, _, err := Document()
	if err != nil {
		return err
	}
	return sendTagged(c, "application/yaml; charset=utf-8", text)
}

func describeJSON(c *fiber.Ctx, _ *caller) error {
	_, text, err := Document()
	if err != nil {
		return err
	}
	return sendTagged(c, fiber.MIMEApplicationJSON, text)
}

// sendTagged sends a text, or nothing where the client has it.
func sendTagged(c *fiber.Ctx, kind string, text []byte) error {
	tag := `"` + digest(string(text)) + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if match := c.Get(fiber.HeaderIfNoneMatch); match == "*" || strings.Contains(match, tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(text)
}
