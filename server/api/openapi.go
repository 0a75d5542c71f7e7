package api

import (
	"encoding/json"
	"errors"
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
	return sendFile(c, "openapi.yaml", text, revalidated)
}

func describeJSON(c *fiber.Ctx, _ *caller) error {
	_, text, err := Document()
	if err != nil {
		return err
	}
	return sendFile(c, "openapi.json", text, revalidated)
}
