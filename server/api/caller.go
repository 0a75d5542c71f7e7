package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/identity"
	"tasklens/internal/postgrest"
)

// known is a caller with a verified token, and the database session that the route may use for
// them.
type known struct {
	identity.Caller
	bearer  string // digest of the token
	asUser  *postgrest.Session
	session *postgrest.Session
}

// knownOf returns the caller of a request, or nil if AUTH=off or the route is open.
func knownOf(c *fiber.Ctx) *known { return servingOf(c.UserContext()).caller }

// admit passes a request on if its caller may make it and is within the rate limit.
func (a *API) admit(needs access) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if v := visitOf(c); v != nil {
			if needs != signedIn {
				return errForbidden // tools only read
			}
			servingOf(c.UserContext()).caller = servingOf(v.ctx).caller
			return c.Next()
		}
		if a.Verifier == nil {
			if err := a.count(c, nil); err != nil {
				return err
			}
			return c.Next()
		}
		c.Set(fiber.HeaderCacheControl, "no-store") // one caller's is not another's
		caller, err := a.verify(c)
		if limited := a.count(c, caller); limited != nil {
			return limited
		}
		if err != nil {
			return err
		}
		if err := a.permit(c.UserContext(), caller, needs); err != nil {
			return err
		}
		servingOf(c.UserContext()).caller = caller
		return c.Next()
	}
}

// verify returns the user of the request's token.
func (a *API) verify(c *fiber.Ctx) (*known, error) {
	token, given, err := bearer(c)
	if err != nil {
		return nil, err
	}
	if !given {
		return nil, fault.New(fault.Unauthorized, "An access token is required.").Because(fault.TokenMissing)
	}
	caller, err := a.Verifier.Verify(c.UserContext(), token)
	if err != nil {
		return nil, err
	}
	user := a.Database.AsUser(token)
	return &known{Caller: caller, bearer: digest(token), asUser: user, session: user}, nil
}

// roles are the values that caller_role returns in the database: the caller's highest role in any
// project.
var roles = map[string]access{"viewer": asViewer, "member": asMember, "admin": asAdmin, "service": asAdmin}

// permit checks a caller's role. A route that requires member or admin gets the service's
// session; a viewer keeps their own token, because the database records whose vote it is.
func (a *API) permit(ctx context.Context, caller *known, needs access) error {
	if needs == signedIn || needs == projectMember || caller.IsService() {
		return nil
	}
	var role string
	if err := caller.asUser.Call(ctx, "caller_role", nil, &role); err != nil {
		return err
	}
	if roles[role] < needs {
		return errForbidden
	}
	if needs != asViewer {
		caller.session = a.Database.AsService()
	}
	return nil
}

// database returns the database with the rights of the request's token or, without a token, of
// the service. PostgREST verifies the token.
func (a *API) database(c *fiber.Ctx) (*postgrest.Session, error) {
	if caller := knownOf(c); caller != nil {
		return caller.session, nil
	}
	token, given, err := bearer(c)
	if err != nil {
		return nil, err
	}
	if !given {
		return a.Database.AsService(), nil
	}
	return a.Database.AsUser(token), nil
}

// databaseFor returns the database for the service's own work on a project that the caller may
// write to. Other callers do not learn whether the project exists.
func (a *API) databaseFor(c *fiber.Ctx, project int64) (*postgrest.Session, error) {
	caller := knownOf(c)
	if caller == nil || caller.IsService() {
		return a.database(c)
	}
	var may bool
	if err := caller.asUser.Call(c.UserContext(), "may_write_project", map[string]any{"project_id": project}, &may); err != nil {
		return nil, err
	}
	if !may {
		return nil, errForbidden
	}
	return a.Database.AsService(), nil
}

var errForbidden = fault.New(fault.Forbidden, "This is not allowed.")

// bearer returns the request's bearer token, if any.
func bearer(c *fiber.Ctx) (token string, given bool, err error) {
	headers := c.Request().Header.PeekAll(fiber.HeaderAuthorization)
	if len(headers) == 0 {
		return "", false, nil
	}
	// An empty header is a client's mistake, not a request to act as the service.
	scheme, token, _ := strings.Cut(string(headers[0]), " ")
	if token = strings.TrimSpace(token); len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !saneToken.MatchString(token) {
		return "", false, fault.New(fault.Unauthorized, "The Authorization header must be a bearer token.")
	}
	return token, true, nil
}

// missingKeys reports, for readiness, that tokens cannot be verified.
func (a *API) missingKeys(ctx context.Context) []string {
	if a.Verifier == nil {
		return nil
	}
	if err := a.Verifier.Ready(ctx); err != nil {
		a.Log.WarnContext(ctx, "not ready", "error", err)
		return []string{"key set"}
	}
	return nil
}

// digest hashes a text that must not be stored or logged.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
