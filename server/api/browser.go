package api

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
)

// Methods allowed across origins, and the seconds for which a browser may cache a preflight.
const (
	corsMethods = "GET, POST, DELETE"
	corsExposed = headerRequestID + ", " + headerRateLimit + ", " + headerRateLimitPolicy + ", Retry-After, " + headerCacheStatus
	corsMaxAge  = "600"
)

// setHeaders sets the security and CORS headers of a response. Routes that serve pages override
// them.
func (a *API) setHeaders(c *fiber.Ctx) {
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	if len(a.Limits.Origins) == 0 {
		return
	}
	c.Vary(fiber.HeaderOrigin)
	if a.mayRead(c) {
		c.Set(fiber.HeaderAccessControlAllowOrigin, c.Get(fiber.HeaderOrigin))
		c.Set(fiber.HeaderAccessControlExposeHeaders, corsExposed)
	}
}

// mayRead reports whether the request's origin is one that the operator allowed. The service uses
// no cookies, so credentials are not allowed.
func (a *API) mayRead(c *fiber.Ctx) bool {
	return slices.Contains(a.Limits.Origins, c.Get(fiber.HeaderOrigin))
}

// preflight answers CORS preflight requests. Any other OPTIONS request is passed on and refused.
func (a *API) preflight(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions || c.Get(fiber.HeaderAccessControlRequestMethod) == "" || c.Get(fiber.HeaderOrigin) == "" {
		return c.Next()
	}
	if !a.mayRead(c) {
		return errOrigin
	}
	c.Set(fiber.HeaderAccessControlAllowMethods, corsMethods)
	// Any header: its page may send what any program may, and libraries for tracing add their own.
	c.Set(fiber.HeaderAccessControlAllowHeaders, c.Get(fiber.HeaderAccessControlRequestHeaders))
	c.Vary(fiber.HeaderAccessControlRequestHeaders)
	c.Set(fiber.HeaderAccessControlMaxAge, corsMaxAge)
	return c.SendStatus(fiber.StatusNoContent)
}

// errOrigin is shown by a browser to people (in its network panel), not to the page.
var errOrigin = fault.New(fault.Forbidden,
	"Pages of this origin may not call this service: CORS_ORIGINS does not list it as the address bar shows it.").Because(fault.OriginNotAllowed)

// refusePages refuses requests of pages of other origins than the service's own and those in
// CORS_ORIGINS. A browser also sends, unasked, what needs no preflight: forms, images, links.
// Browsers that say who asks need no comparison of names, which a proxy may have changed.
func (a *API) refusePages(c *fiber.Ctx) error {
	origin, site := c.Get(fiber.HeaderOrigin), c.Get("Sec-Fetch-Site")
	if origin == "" {
		if site == "" || site == "none" || site == "same-origin" { // no page, or ours
			return nil
		}
		return errOrigin
	}
	page, err := url.Parse(origin)
	own := err == nil && (page.Scheme == "http" || page.Scheme == "https") && page.Host == string(c.Request().Host())
	if own || site == "same-origin" || a.mayRead(c) || origin == a.PublicURL {
		return nil
	}
	return errOrigin
}

// refuseForeignNames guards against DNS rebinding with AUTH=off: a page whose host name resolves
// to this machine would otherwise be same-origin and act as the service.
func (a *API) refuseForeignNames(c *fiber.Ctx) error {
	if a.Verifier != nil || isLocalName(string(c.Request().Host())) {
		return c.Next()
	}
	return fault.New(fault.Forbidden, "While AUTH is off this service accepts only host names and addresses of its own machine.").Because(fault.HostNotAllowed)
}

// isLocalName also accepts names without a dot, which cannot be registered publicly.
func isLocalName(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if !strings.ContainsAny(name, ".:") || strings.HasSuffix(strings.ToLower(name), ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}
