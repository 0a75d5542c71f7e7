package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"
)

// openAPI describes all that the service does over HTTP. Tests hold it against the service.
//
//go:embed openapi.yaml
var openAPI []byte

// openAPIJSON is the same document as JSON, for tools that read no YAML.
var openAPIJSON = sync.OnceValues(func() ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(openAPI, &document); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	return json.Marshal(document)
})

func describeYAML(c *fiber.Ctx) error {
	return sendTagged(c, "application/yaml; charset=utf-8", openAPI)
}

func describeJSON(c *fiber.Ctx) error {
	text, err := openAPIJSON()
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
