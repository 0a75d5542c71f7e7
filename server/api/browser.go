package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
)

// What a page of another origin may send and read, and for how many seconds its browser need not
// ask again.
const (
	corsMethods = "GET, POST, DELETE"
	corsHeaders = "Accept, Authorization, Content-Type, X-Request-Id, traceparent, tracestate"
	corsExposed = headerRequestID + ", " + headerRateLimit + ", " + headerRateLimitPolicy + ", Retry-After, " + headerCacheStatus
	corsMaxAge  = "600"
)

// dress gives a response what browsers want to know: that it is nothing to be shown as a page, and
// whose pages may read it. Routes that are pages say otherwise.
func (a *API) dress(c *fiber.Ctx) {
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

// mayRead says whether a request comes from a page of an origin that the operator named. There are
// no cookies here, so that none are allowed to be sent along.
func (a *API) mayRead(c *fiber.Ctx) bool {
	return slices.Contains(a.Limits.Origins, c.Get(fiber.HeaderOrigin))
}

// preflight answers a browser that asks beforehand. What others ask with this method goes on to be
// refused.
func (a *API) preflight(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions || c.Get(fiber.HeaderAccessControlRequestMethod) == "" || !a.mayRead(c) {
		return c.Next()
	}
	c.Set(fiber.HeaderAccessControlAllowMethods, corsMethods)
	c.Set(fiber.HeaderAccessControlAllowHeaders, corsHeaders)
	c.Set(fiber.HeaderAccessControlMaxAge, corsMaxAge)
	return c.SendStatus(fiber.StatusNoContent)
}

// refuseForeignNames keeps out, where whoever reaches the service is the service (AUTH=off), a page
// that has its own name lead to this machine: to its browser that is no other origin (DNS
// rebinding).
func (a *API) refuseForeignNames(c *fiber.Ctx) error {
	if a.Verifier != nil || isLocalName(string(c.Request().Host())) {
		return c.Next()
	}
	return fault.New(fault.Forbidden, "While AUTH is off this service answers to the names of its own machine alone.").Because(fault.HostNotAllowed)
}

// isLocalName takes a name without a dot too: no stranger can have one.
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
