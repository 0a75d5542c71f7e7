package api

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/limit"
	"tasklens/internal/metric"
)

// Limits are the limits that an operator sets.
type Limits struct {
	Rate     *limit.Limiter // of each caller; nil: none
	InFlight int            // requests at a time; 0: any number
	Origins  []string       // whose pages may call, such as https://example.com

	Connections int // at a time; 0: any number

	// How long a client may take to send headers, to send a body and to read a response, and how
	// long a connection may be idle.
	HeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration
}

// headers of draft-ietf-httpapi-ratelimit-headers-10.
const (
	headerRateLimit       = "RateLimit"
	headerRateLimitPolicy = "RateLimit-Policy"
)

// ratePolicy is the name of the only policy.
const ratePolicy = "requests"

// count charges a request to the caller's bucket and refuses it if that is empty.
func (a *API) count(c *fiber.Ctx, caller *known) error {
	if a.Limits.Rate == nil {
		return nil
	}
	return a.take(c, caller, 1)
}

func (a *API) take(c *fiber.Ctx, caller *known, requests int) error {
	verdict, policy := a.Limits.Rate.TakeMany(c.UserContext(), rateKey(c, caller), requests), a.Limits.Rate.Policy()
	c.Set(headerRateLimitPolicy, fmt.Sprintf("%q;q=%d;w=%d", ratePolicy, policy.Requests, wholeSeconds(policy.Period)))
	c.Set(headerRateLimit, fmt.Sprintf("%q;r=%d;t=%d", ratePolicy, verdict.Remaining, wholeSeconds(verdict.Full)))
	if verdict.Allowed {
		return nil
	}
	a.Metrics.LimitHit(metric.LimitRate)
	refused := fault.New(fault.RateLimited, "Too many requests.")
	refused.RetryAfter = verdict.Wait
	return refused
}

// countMore counts a request as more than one, at most as the whole burst.
func (a *API) countMore(c *fiber.Ctx, more int) error {
	if a.Limits.Rate == nil {
		return nil
	}
	if more = min(more, a.Limits.Rate.Policy().Requests-1); more < 1 {
		return nil
	}
	return a.take(c, knownOf(c), more)
}

// rateKey names the bucket of a request: the user's, whichever token they use or, without a valid
// token, that of the connection's remote address. No header is trusted.
func rateKey(c *fiber.Ctx, caller *known) string {
	switch {
	case caller == nil:
		return digest("address " + network(c.Context().RemoteIP().String()))
	case caller.Subject == "":
		return digest("role " + caller.Role)
	default:
		return digest("user " + caller.Subject)
	}
}

// network is the smallest block that one party controls: an IPv4 address or an IPv6 /64.
func network(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	if address = address.Unmap(); address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address, 64).Masked().String()
}

func wholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// slot is a request's place among those in flight. A stream keeps it after its handler returns.
type slot struct {
	free func() // nil: it has none
	kept bool
}

// bound refuses a request at once if too many are in flight: queued, it would delay others and
// its client would give up on it.
func (a *API) bound(c *fiber.Ctx) error {
	most := int64(a.Limits.InFlight)
	if most <= 0 || visitOf(c) != nil { // a visit has the place
		return c.Next()
	}
	if a.flying.Add(1) > most {
		a.flying.Add(-1)
		a.Metrics.LimitHit(metric.LimitInFlight)
		return errBusy()
	}
	s := &servingOf(c.UserContext()).slot
	s.free = sync.OnceFunc(func() { a.flying.Add(-1) })
	defer func() {
		if !s.kept {
			s.free()
		}
	}()
	return c.Next()
}

// keepSlot keeps a request in flight until the returned function is called.
func keepSlot(c *fiber.Ctx) (free func()) {
	s := &servingOf(c.UserContext()).slot
	if s.free == nil {
		return func() {}
	}
	s.kept = true
	return s.free
}
