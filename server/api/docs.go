package api

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// docs is a page that shows the API's document, with all its files; see the README there.
//
//go:embed docs/index.html docs/start.js docs/swagger-ui.css.gz docs/swagger-ui-bundle.js.gz
var docs embed.FS

// docsPolicy restricts the page to files of this service. Its script creates inline styles.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var docsTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// docsPage is /docs.
func docsPage(c *fiber.Ctx) error {
	if strings.HasSuffix(c.Path(), "/") {
		return c.Redirect("../docs") // or the page would look for its parts one level too deep
	}
	c.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
	return sendDocs(c, "index.html")
}

type docsPart struct {
	File string `path:"file" enum:"start.js,swagger-ui.css,swagger-ui-bundle.js,index.html"`
}

// docsFile serves a file of the page.
func docsFile(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "max-age=3600")
	return sendDocs(c, c.Params("file"))
}

// sendDocs sends a file, compressed as stored if the client accepts that.
func sendDocs(c *fiber.Ctx, name string) error {
	kind, packed := docsTypes[path.Ext(name)], false
	text, err := docs.ReadFile("docs/" + name)
	if err != nil {
		packed = true
		text, err = docs.ReadFile("docs/" + name + ".gz")
	}
	if err != nil || kind == "" {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if packed {
		c.Vary(fiber.HeaderAcceptEncoding)
		if c.AcceptsEncodings("gzip") != "" {
			c.Set(fiber.HeaderContentEncoding, "gzip")
		} else if text, err = unpack(text); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return c.Send(text)
}

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
