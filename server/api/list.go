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
	me.Role, err = who.role(ctx)
	return me, err
}

func (a *API) projects(ctx context.Context, who *caller, _ *nothing) (list[search.Project], error) {
	return listed(search.Projects(ctx, who.db))
}

type languageRequest struct {
	ProjectID int64   `path:"project_id" min:"1" example:"1"`
	Language  *string `json:"language" maxlen:"63" example:"german" doc:"As Postgres names it; absent: that of the database."`
}

// setLanguage sets the language in which a project's texts are searched.
func (a *API) setLanguage(ctx context.Context, who *caller, request *languageRequest) (none nothing, err error) {
	return none, search.SetLanguage(ctx, who.db, request.ProjectID, request.Language)
}

func (a *API) statuses(ctx context.Context, who *caller, _ *nothing) (list[search.Status], error) {
	return listed(search.Statuses(ctx, who.db))
}
