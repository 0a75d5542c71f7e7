package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"tasklens/internal/ticketfile"
)

// readProjects reads all projects, because the origin depends on them.
func (l *loader) readProjects() (projects []ticketfile.Project, err error) {
	for project, err := range l.files.Projects() {
		if l.isBad(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if project.Warning != nil {
			l.warn(project.Warning)
		}
		projects = append(projects, project)
	}
	return projects, nil
}

// begin finds or adds the origin and gets the import's id.
func (l *loader) begin(ctx context.Context, projects []ticketfile.Project) (err error) {
	origin := l.options.Origin
	if origin == "" {
		if origin, err = originOf(projects); err != nil {
			return err
		}
	}
	arguments := map[string]any{"format": l.files.Format()}
	if origin != "" {
		arguments["origin"] = origin
	} else {
		var keys []string
		for _, project := range projects {
			keys = append(keys, project.Key)
		}
		arguments["project_keys"] = keys
	}
	var begun []struct {
		ID     int64  `json:"import_id"`
		Origin string `json:"import_origin"`
	}
	if err := l.db.Call(ctx, "begin_import", arguments, &begun); err != nil {
		return fmt.Errorf("begin the import: %w", err)
	}
	if len(begun) != 1 {
		return errors.New("begin the import: the database gave it no id")
	}
	l.id = begun[0].ID
	l.report.Began(begun[0].Origin)
	return nil
}

// originOf returns where the files say that they come from: a repository, or the owner of several.
// It is empty if the format does not say it.
func originOf(projects []ticketfile.Project) (string, error) {
	origin := projects[0].Origin
	for _, p := range projects {
		if owner := path.Dir(p.Origin); p.Origin != origin && owner != origin {
			if owner != path.Dir(origin) {
				return "", fmt.Errorf("the files hold repositories of several owners, %s and %s: give the import an origin", origin, p.Origin)
			}
			origin = owner
		}
	}
	return origin, nil
}

func (l *loader) upsertProjects(ctx context.Context, projects []ticketfile.Project) error {
	var written []struct {
		Key    string  `json:"key"`
		HeldBy *string `json:"held_by"`
		Reason *string `json:"reason"`
	}
	projects = slices.Clone(projects)
	for i := range projects {
		projects[i].Language = cmp.Or(projects[i].Language, l.options.Language)
	}
	if err := l.db.Call(ctx, "upsert_projects", map[string]any{"projects": projects, "import_id": l.id, "take_over": l.options.TakeOver}, &written); err != nil {
		return fmt.Errorf("write projects: %w", err)
	}
	for _, p := range written {
		if p.Reason != nil {
			l.skip(errors.New("project " + p.Key + ": " + *p.Reason))
			continue
		}
		_, before := l.projects[p.Key]
		switch l.projects[p.Key] = p.HeldBy != nil; {
		case before: // a key that the files hold twice
		case p.HeldBy != nil:
			l.sum.RefusedProjects++
			l.report.Trouble(Refused, errors.New("project "+p.Key+heldBy(*p.HeldBy)+"; its tickets are refused too"))
		default:
			l.sum.Projects++
		}
	}
	return nil
}

// heldBy says why a key is refused.
func heldBy(origin string) string {
	if origin == "" {
		return ": it was not imported"
	}
	return ": it was imported from " + origin
}
