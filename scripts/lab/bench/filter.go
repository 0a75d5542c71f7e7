package bench

import (
	"fmt"
	"slices"
)

// filter limits a search to a project, a status, or both; 0 means any.
type filter struct {
	name    string
	project int64
	status  string
}

func (f filter) passes(s source) bool {
	return (f.project == 0 || f.project == s.project) && (f.status == "" || f.status == s.status)
}

// filters returns no filter, and projects and statuses of many sizes.
func filters() []filter {
	out := []filter{
		{name: "none"},
		{name: "status of 50%", status: "Done"}, {name: "status of 10%", status: "In progress"},
		{name: "status of 1%", status: "Waiting"}, {name: "status of 0.1%", status: "Parked"},
		{name: "project of one ticket", project: int64(len(projectShares) + 1)},
	}
	for _, share := range []float64{0.5, 0.2, 0.1, 0.01, 0.001} {
		project := int64(slices.Index(projectShares, share) + 1)
		out = append(out, filter{name: fmt.Sprintf("project of %v%%", 100*share), project: project})
	}
	return out
}
