package search

import "context"

// Project and Status are what a search can be narrowed to.
type Project struct {
	ProjectID int64  `json:"project_id"`
	Key       string `json:"key"`
	Name      string `json:"name"`
	Tickets   int64  `json:"tickets"`
}

// Status is a state that tickets can be in.
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

// Statuses lists all statuses, in the order they were made.
func Statuses(ctx context.Context, db Database) ([]Status, error) {
	rows := []Status{}
	err := db.Call(ctx, "list_statuses", nil, &rows)
	return rows, err
}
