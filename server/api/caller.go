package api

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/identity"
	"tasklens/internal/postgrest"
	"tasklens/internal/rpc"
	"tasklens/server/observe"
)

// caller is who makes a request, and the database with what they may do in it.
type caller struct {
	identity.Caller        // empty with AUTH=off
	token           string // digest of their token; "" without one
	db              *postgrest.Session
}

// isVerified reports whether the token was checked here. With AUTH=off PostgREST does it.
func (who *caller) isVerified() bool { return who.Digest != "" }

// isUser reports whether the caller has a token of their own.
func (who *caller) isUser() bool { return who.token != "" && !(who.isVerified() && who.IsService()) }

// key separates callers in the cache.
func (who *caller) key() string {
	switch {
	case who.isVerified():
		return "caller " + who.Digest
	case who.token != "":
		return "token " + who.token
	default:
		return "service"
	}
}

// admit returns the caller of a request if they may make it and are within their limits.
func (a *API) admit(c *fiber.Ctx, needs access) (*caller, error) {
	if a.Verifier != nil {
		c.Set(fiber.HeaderCacheControl, "no-store") // one caller's is not another's
	}
	who, err := a.recognize(c)
	if limited := a.limitRate(c, who); limited != nil {
		return nil, limited
	}
	if who.Subject != "" { // with the service's key a backend acts for many
		if crowded := a.countInFlight(c, rateKey(c, who), observe.LimitCaller, callerInFlight, errCrowded); crowded != nil {
			return nil, crowded
		}
	}
	if err == nil && a.Verifier != nil {
		err = a.permit(c.UserContext(), who, needs)
	}
	return who, err
}

// recognize returns who a request's token stands for or, with AUTH=off and without a token, the
// service. With an error it is a stranger.
func (a *API) recognize(c *fiber.Ctx) (*caller, error) {
	token, err := bearer(c)
	switch {
	case err != nil:
		return &caller{}, err
	case token == "" && a.Verifier == nil:
		return &caller{db: a.Database.AsService()}, nil
	case token == "":
		return &caller{}, fault.New(fault.Unauthorized, "An access token is required.").Because(fault.TokenMissing)
	}
	who := &caller{token: identity.Digest(token), db: a.Database.AsUser(token)}
	if a.Verifier == nil {
		return who, nil
	}
	if who.Caller, err = a.Verifier.Verify(c.UserContext(), token); err != nil {
		return &caller{}, err
	}
	return who, nil
}

// roles are what callers may do who have one in some project, by the highest (caller_role).
var roles = map[string]access{"viewer": asViewer, "member": asViewer, "admin": asAdmin, "service": asAdmin}

// role returns the caller's highest role in any project, or "none".
func (who *caller) role(ctx context.Context) (string, error) {
	return rpc.Value[string](ctx, who.db, "caller_role", nil)
}

// permit checks a caller's role. A route that requires admin gets the service's session; a viewer
// keeps their own token, because the database records whose vote it is.
func (a *API) permit(ctx context.Context, who *caller, needs access) error {
	if needs == signedIn || needs == projectMember || who.IsService() {
		return nil
	}
	role, err := who.role(ctx)
	if err != nil {
		return err
	}
	if roles[role] < needs {
		return errForbidden
	}
	if needs == asAdmin {
		who.db = a.Database.AsService()
	}
	return nil
}

// databaseFor returns the database for the service's own work on a project that the caller may
// write to. Other callers do not learn whether the project exists.
func (a *API) databaseFor(ctx context.Context, who *caller, project int64) (*postgrest.Session, error) {
	if !who.isVerified() || who.IsService() {
		return who.db, nil
	}
	may, err := rpc.Value[bool](ctx, who.db, "may_write_project", map[string]any{"project_id": project})
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, errForbidden
	}
	return a.Database.AsService(), nil
}

var errForbidden = fault.New(fault.Forbidden, "This is not allowed.")

// bearer returns the request's bearer token, or "" without the header.
func bearer(c *fiber.Ctx) (string, error) {
	headers := c.Request().Header.PeekAll(fiber.HeaderAuthorization)
	if len(headers) == 0 {
		return "", nil
	}
	// An empty header is a client's mistake, not a request to act as the service.
	scheme, token, _ := strings.Cut(string(headers[0]), " ")
	if token = strings.TrimSpace(token); len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !saneToken.MatchString(token) {
		return "", fault.New(fault.Unauthorized, "The Authorization header must be a bearer token.")
	}
	return token, nil
}
