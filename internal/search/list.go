package search

import "context"

// Project and Status are the values of the filters of the same name.
type Project struct {
	ProjectID int64  `json:"project_id"`
	Key       string `json:"key"`
	Name      string `json:"name"`
	Tickets   int64  `json:"tickets"`
}

// Status is a workflow state.
type Status struct {
	StatusID int64  `json:"status_id"`
	Name     string `json:"name"`
}

// Projects lists all projects by key.
func Projects(ctx context.Context, db Database) ([]Project, error) {
	rows := []Project{}
	err := db.Call(ctx, "list_projects", nil, &rows)
	return rows, err
}

// Statuses lists all statuses in order of creation.
func Statuses(ctx context.Context, db Database) ([]Status, error) {
	rows := []Status{}
	err := db.Call(ctx, "list_statuses", nil, &rows)
	return rows, err
}
