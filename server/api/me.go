package api

import "github.com/gofiber/fiber/v2"

type meResponse struct {
	Role string `json:"role" enum:"none,viewer,member,admin,service" example:"member" doc:"~service~ is a caller without restrictions: the service's key, or ~AUTH=off~ without a token."`
}

// me returns the caller's highest role, so that a frontend offers only permitted actions.
func (a *API) me(c *fiber.Ctx, _ *nothing) (me meResponse, err error) {
	db, err := a.database(c)
	if err != nil {
		return me, err
	}
	return me, db.Call(c.UserContext(), "caller_role", nil, &me.Role)
}
