package api

import (
	"context"

	"tasklens/internal/search"
)

type meResponse struct {
	Role string `json:"role" enum:"none,viewer,member,admin,service" example:"member" doc:"~service~ is a caller without restrictions: the service's key, or ~AUTH=off~ without a token."`
}

// me returns the caller's highest role, so that a frontend offers only permitted actions.
func (a *API) me(ctx context.Context, who *caller, _ *nothing) (me meResponse, err error) {
	err = who.db.Call(ctx, "caller_role", nil, &me.Role)
	return me, err
}

func (a *API) projects(ctx context.Context, who *caller, _ *nothing) (list[search.Project], error) {
	return listed(search.Projects(ctx, who.db))
}

func (a *API) statuses(ctx context.Context, who *caller, _ *nothing) (list[search.Status], error) {
	return listed(search.Statuses(ctx, who.db))
}
