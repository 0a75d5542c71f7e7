package search

import (
	"context"

	"tasklens/internal/fault"
	"tasklens/internal/rpc"
)

// Project and Status are the values of the filters of the same name.
type Project struct {
	_ struct{} `schema:"Project"`

	ProjectID int64   `json:"project_id" min:"1" example:"1"`
	Key       string  `json:"key" example:"TX"`
	Name      string  `json:"name" example:"Checkout and Payments"`
	Tickets   int64   `json:"tickets" min:"0" example:"31" doc:"How many tickets it has."`
	Language  *string `json:"language" example:"german" doc:"The language in which its texts are searched; null: that of the database."`
}

// Status is a workflow state.
type Status struct {
	_ struct{} `schema:"Status"`

	StatusID int64  `json:"status_id" min:"1" example:"1"`
	Name     string `json:"name" example:"To Do"`
}

// Projects lists all projects by key.
func Projects(ctx context.Context, db rpc.Caller) ([]Project, error) {
	return listAll(ctx, db, "list_projects", func(p Project) any { return p.Key })
}

// SetLanguage sets the language in which a project's texts are searched, as Postgres names it; nil:
// that of the database. It returns fault.Invalid with the list for an unknown one, fault.Forbidden
// to all but the project's admins, and fault.NotFound.
func SetLanguage(ctx context.Context, db rpc.Caller, project int64, language *string) error {
	found, err := rpc.Value[bool](ctx, db, "set_project_language", map[string]any{"project_id": project, "language": language})
	if err == nil && !found {
		return fault.New(fault.NotFound, "There is no such project.")
	}
	return err
}

// Statuses lists all statuses in order of creation.
func Statuses(ctx context.Context, db rpc.Caller) ([]Status, error) {
	return listAll(ctx, db, "list_statuses", func(s Status) any { return s.StatusID })
}

// maxListed bounds the memory of a list. A list's time is bounded by ctx.
const maxListed = 10_000

// listAll reads all pages of a function that lists by key. Only an empty page is the last one: the
// database's HTTP interface cuts a response at its max_rows, whatever they are.
func listAll[T any](ctx context.Context, db rpc.Caller, function string, key func(T) any) ([]T, error) {
	rows, arguments := []T{}, map[string]any{}
	for len(rows) < maxListed {
		page, err := rpc.All[T](ctx, db, function, arguments)
		if err != nil || len(page) == 0 {
			return rows, err
		}
		rows = append(rows, page...)
		arguments["after"] = key(page[len(page)-1])
	}
	return nil, fault.New(fault.TooLarge, "There are too many entries to list them: more than 10,000.")
}
