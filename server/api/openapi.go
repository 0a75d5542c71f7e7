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
		var asYAML yaml.Node // JSON is YAML, too
		var errs [3]error
		described.json, errs[0] = json.Marshal(newDocument())
		errs[1] = yaml.Unmarshal(described.json, &asYAML)
		inBlocks(&asYAML)
		described.yaml, errs[2] = yaml.Marshal(&asYAML)
		described.err = errors.Join(errs[:]...)
	})
	return described.yaml, described.json, described.err
}

// inBlocks gives each value the style that people write it in.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		inBlocks(inner)
	}
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
	c.Set(fiber.HeaderCacheControl, revalidated)
	return sendFile(c, "openapi.yaml", text)
}

func describeJSON(c *fiber.Ctx, _ *caller) error {
	_, text, err := Document()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, revalidated)
	return sendFile(c, "openapi.json", text)
}
