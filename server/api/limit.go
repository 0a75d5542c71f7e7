package api

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/identity"
	"tasklens/internal/limit"
	"tasklens/server/observe"
)

// Limits are the limits that an operator sets.
type Limits struct {
	Rate     *limit.Limiter // of each caller; nil: none
	InFlight int            // requests at a time; 0: any number
	Origins  []string       // whose pages may call, such as https://example.com

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

// limitRate takes a request from the caller's bucket and refuses it if there is none left.
func (a *API) limitRate(c *fiber.Ctx, who *caller) error {
	if a.Limits.Rate == nil {
		return nil
	}
	policy := a.Limits.Rate.Policy()
	verdict := a.Limits.Rate.Take(c.UserContext(), rateKey(c, who))
	c.Set(headerRateLimitPolicy, fmt.Sprintf("%q;q=%d;w=%d", ratePolicy, policy.Requests, wholeSeconds(policy.Period)))
	c.Set(headerRateLimit, fmt.Sprintf("%q;r=%d;t=%d", ratePolicy, verdict.Remaining, wholeSeconds(verdict.Full)))
	if verdict.Allowed {
		return nil
	}
	a.Observer.LimitHit(observe.LimitRate)
	refused := fault.New(fault.RateLimited, "Too many requests.")
	refused.RetryAfter = verdict.Wait
	return refused
}

// rateKey names the bucket of a request: the user's, whichever token they use or, without a valid
// token, that of the connection's remote address. No header is trusted.
func rateKey(c *fiber.Ctx, who *caller) string {
	switch {
	case !who.isVerified():
		return identity.Digest("address " + network(c.Context().RemoteIP()))
	case who.Subject == "":
		return identity.Digest("role " + who.Role)
	default:
		return identity.Digest("user " + who.Subject)
	}
}

// network is the smallest block that one party controls: an IPv4 address or an IPv6 /64.
func network(ip net.IP) string {
	address, _ := netip.AddrFromSlice(ip)
	address = address.Unmap()
	block, _ := address.Prefix(min(64, address.BitLen()))
	return block.String()
}

// wholeSeconds rounds up: with 0 a client would retry at once.
func wholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

const busyRetry = time.Second // the Retry-After when the service is full

// errBusy is the error of a request refused because the service is full.
var errBusy = &fault.Error{Code: fault.Unavailable, Message: "The service is busy.", Reason: fault.Busy, RetryAfter: busyRetry}

// callerInFlight is how many requests of one user run at a time, as many as a browser opens to a
// host: more would take all of the database's connections from the others.
const callerInFlight = 6

var errCrowded = &fault.Error{
	Code: fault.RateLimited, Message: fmt.Sprintf("Too many requests at the same time: at most %d.", callerInFlight), RetryAfter: busyRetry,
}

// crowd counts what is in flight, by name.
type crowd struct {
	sync.Mutex
	in map[string]int
}

func (w *crowd) add(name string, n int) int {
	w.Lock()
	defer w.Unlock()
	w.in[name] += n
	count := w.in[name]
	if count == 0 {
		delete(w.in, name)
	}
	return count
}

// countInFlight refuses a request at once if as many as most of this name are in flight, 0 being
// any number: queued, it would delay others and its client would give up on it.
func (a *API) countInFlight(c *fiber.Ctx, name, limit string, most int, refused *fault.Error) error {
	if most == 0 {
		return nil
	}
	if a.inFlight.add(name, 1) > most {
		a.inFlight.add(name, -1)
		a.Observer.LimitHit(limit)
		return refused
	}
	r := exchangeOf(c.UserContext())
	r.ends = append(r.ends, func(int) { a.inFlight.add(name, -1) })
	return nil
}
