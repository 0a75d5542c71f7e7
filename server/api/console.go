package api

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/server/console"
)

// consolePage is /. Browsers revalidate it each time, and with it the version of its files.
func (a *API) consolePage(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentSecurityPolicy, a.Console.Policy)
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	return sendConsole(c, a.Console.Page)
}

type consolePart struct {
	Version string `path:"version"`
	File    string `path:"file"`
}

// consoleFile serves a file of the page. If another copy of the service named a different
// version, it serves its own file and forbids caching.
func (a *API) consoleFile(c *fiber.Ctx) error {
	file, found := a.Console.Part(c.Params("file"))
	if !found {
		return fiber.ErrNotFound
	}
	if c.Params("version") == a.Console.Version {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	} else {
		c.Set(fiber.HeaderCacheControl, "no-cache")
	}
	return sendConsole(c, file)
}

// sendConsole sends a file, compressed if the client accepts that, or 304 if the client has it.
func sendConsole(c *fiber.Ctx, file console.File) error {
	c.Vary(fiber.HeaderAcceptEncoding)
	text, tag := file.Plain, `"`+file.Tag+`"`
	if c.AcceptsEncodings("gzip") != "" {
		text, tag = file.Packed, `"`+file.Tag+`-gzip"`
	}
	c.Set(fiber.HeaderETag, tag)
	if match := c.Get(fiber.HeaderIfNoneMatch); match == "*" || strings.Contains(match, tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, file.Kind)
	if &text[0] == &file.Packed[0] {
		c.Set(fiber.HeaderContentEncoding, "gzip")
	}
	return c.Send(text)
}
