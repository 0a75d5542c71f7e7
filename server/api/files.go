package api

import (
	"embed"
	"path"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/valyala/fasthttp"

	"tasklens/internal/identity"
)

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".yaml": "application/yaml; charset=utf-8", ".json": fiber.MIMEApplicationJSON,
}

// How long browsers use a file without asking for it again.
const (
	revalidated = "no-cache"
	hourly      = "max-age=3600"
	forever     = "public, max-age=31536000, immutable"
)

// brotliLevel is the first at which the console's files are smaller than as gzip: by a tenth.
const brotliLevel = 6

// sendFile sends a file, compressed if the client accepts that, or 304 if the client has it.
func sendFile(c *fiber.Ctx, name string, text []byte) error {
	c.Vary(fiber.HeaderAcceptEncoding)
	c.Set(fiber.HeaderETag, `W/"`+identity.Digest(string(text))[:32]+`"`) // weak: it is the same for each encoding
	if c.Fresh() {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, mediaTypes[path.Ext(name)])
	if err := c.Send(text); err != nil {
		return err
	}
	fasthttp.CompressHandlerBrotliLevel(func(*fasthttp.RequestCtx) {}, brotliLevel, fasthttp.CompressDefaultCompression)(c.Context())
	return nil
}

// consolePage is /. Browsers revalidate it each time, and with it the version of its files.
func (a *API) consolePage(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentSecurityPolicy, a.Console.Policy)
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set(fiber.HeaderCacheControl, revalidated)
	return sendFile(c, "index.html", a.Console.Page)
}

type consolePart struct {
	Version string `path:"version"`
	File    string `path:"file"`
}

// consoleFile serves a file of the page. If another copy of the service named a different
// version, it serves its own file, which may be cached no longer.
func (a *API) consoleFile(c *fiber.Ctx) error {
	name, caching := c.Params("file"), revalidated
	text, found := a.Console.Parts[name]
	if !found {
		return fiber.ErrNotFound
	}
	if c.Params("version") == a.Console.Version {
		caching = forever
	}
	c.Set(fiber.HeaderCacheControl, caching)
	return sendFile(c, name, text)
}

// docs is a page that shows the API's document, with all its files; see the README there.
//
//go:embed docs/index.html docs/start.js docs/swagger-ui.css docs/swagger-ui-bundle.js
var docs embed.FS

// docsPolicy restricts the page to files of this service. Its script creates inline styles.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// wayBack is the part of the page that leads to the console.
var wayBack = regexp.MustCompile(`(?s) *<nav.*</nav>\n`)

// docsPage is /docs.
func (a *API) docsPage(c *fiber.Ctx) error {
	if strings.HasSuffix(c.Path(), "/") {
		return c.Redirect("../docs") // or the page would look for its parts one level too deep
	}
	text, err := docs.ReadFile("docs/index.html")
	if err != nil {
		return err
	}
	if a.Console == nil {
		text = wayBack.ReplaceAll(text, nil)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
	return sendFile(c, "index.html", text)
}

type docsPart struct {
	File string `path:"file" enum:"start.js,swagger-ui.css,swagger-ui-bundle.js,index.html"`
}

// docsFile serves a file of the page.
func docsFile(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, hourly)
	text, err := docs.ReadFile("docs/" + c.Params("file"))
	if err != nil {
		return fiber.ErrNotFound
	}
	return sendFile(c, c.Params("file"), text)
}

// metrics is /metrics.
func (a *API) metrics(c *fiber.Ctx) error { return adaptor.HTTPHandler(a.Observer.Handler())(c) }
