package bench

import "fmt"

// filter limits a search to a project, a status, or both; 0 means any.
type filter struct {
	name    string
	project int64
	status  string
	// elsewhere lists projects of one size: the first on other topics than the query is the filter.
	elsewhere []int64
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
	for _, share := range []float64{0.5, 0.1, 0.01, 0.001} {
		alike := projectsOf(share)
		out = append(out, filter{name: fmt.Sprintf("project of %v%%", 100*share), project: alike[0]},
			filter{name: fmt.Sprintf("project of %v%% on other topics", 100*share), elsewhere: alike})
	}
	return out
}

// projectsOf returns the projects with this share of the tickets.
func projectsOf(share float64) (projects []int64) {
	for i, one := range projectShares {
		if one == share {
			projects = append(projects, int64(i+1))
		}
	}
	return projects
}

// about returns the filter for a query's topic; false if every project of its size has the topic.
func (f filter) about(topic int) (filter, bool) {
	if f.elsewhere == nil {
		return f, true
	}
	for _, project := range f.elsewhere {
		if !discusses(int(project), topic) {
			f.project = project
			return f, true
		}
	}
	return f, false
}
