package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"
)

// documentYAML is the OpenAPI document, which describes all that the service does over HTTP. A test
// generates it from the table of routes and the structs, and others hold it against the service.
//
//go:embed openapi.yaml
var documentYAML []byte

var documentJSON = sync.OnceValues(func() ([]byte, error) {
	var document any
	if err := yaml.Unmarshal(documentYAML, &document); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return json.Marshal(document)
})

// anyDocument is the document as a response of its own.
type anyDocument struct {
	_ struct{} `open:"" example:"{\"openapi\": \"3.0.3\", \"info\": {\"title\": \"tasklens\", \"version\": \"1\"}, \"paths\": {}}"`
}

func describeYAML(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, revalidated)
	return sendFile(c, "openapi.yaml", documentYAML)
}

func describeJSON(c *fiber.Ctx, _ *caller) error {
	text, err := documentJSON()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, revalidated)
	return sendFile(c, "openapi.json", text)
}
