package export

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// gitlab is the CSV export of a project's issues, before and since 18.4, or issues as the REST API
// returns them.
var gitlab = tracker{
	name: "gitlab", title: "GitLab",
	header: []string{"URL", "Title", "State"},
	shows:  func(first gjson.Result) bool { return first.Get("iid").Int() > 0 && first.Get("web_url").Exists() },
	first:  "iid and web_url, as GitLab's has",
	columns: columns{
		"key": {"IID", "Issue ID"}, "project_key": {"URL", "web_url"}, "url": {"URL", "web_url"}, "source_id": {"ID"}, "parent": {"Parent ID"}, "name": {"Title"}, "description": {"Description"},
		"status": {"State"}, "ticket_type": {"issue_type", "Type"}, "assignee": {"Assignee", "assignees", "Assignee Username"}, "reporter": {"Author", "Author Username"},
		"labels": {"Labels"}, "due_date": {"Due Date"}, "created_at": {"Created At (UTC)", "created_at"}, "updated_at": {"Updated At (UTC)", "updated_at"},
		"resolved_at": {"Closed At (UTC)", "closed_at"}, "api": {"_links", "references", "project_id", "user_notes_count"},
	},
	inner: treeOf(`references.short references.relative references.full _links.self _links.notes _links.award_emoji _links.project _links.closed_as_duplicate_of milestone.title milestone.id
		milestone.iid milestone.project_id milestone.group_id milestone.web_url milestone.state milestone.created_at milestone.updated_at milestone.start_date milestone.expired`),
	object: gitlabMembers,
	finish: (*row).finishGitlab,
}

// gitlabMembers leaves out merge requests, which look alike.
func gitlabMembers(s *issues, issue gjson.Result) members {
	if strings.Contains(issue.Get("web_url").String(), "/merge_requests/") {
		s.notices["merge requests left out"]++
		return nil
	}
	return issue.Map()
}

var (
	// gitlabPage matches an issue's address: the project's, and the issue's number.
	gitlabPage = regexp.MustCompile(`^https?://(?:[^/@]+@)?([^/@]+(?:/[^/]+){2,}?)(?:/-)?/(?:issues|work_items)(?:/incident)?/(\d+)/?$`)
	// spreadsheet matches what GitLab puts before a cell that a spreadsheet would compute.
	spreadsheet = regexp.MustCompile(`^'([=+\-@;])`)
)

func (r *row) finishGitlab(t *Ticket) error {
	page := gitlabPage.FindStringSubmatch(strings.TrimSpace(t.URL))
	if page == nil {
		return fmt.Errorf("%s %s is not the address of a GitLab issue: it tells the project", r.columns.of("url"), quote(t.URL))
	}
	t.Key = page[2] // the column that has it is another one since 18.4
	t.isIn(page[1])
	isCSV := !r.object.Exists()
	if isCSV {
		t.Name, t.Description = spreadsheet.ReplaceAllString(t.Name, "$1"), spreadsheet.ReplaceAllString(t.Description, "$1")
	}
	if t.Category = "to_do"; strings.EqualFold(strings.TrimSpace(t.Status), "closed") {
		t.Status, t.Category = "Closed", "done"
	} else {
		t.Status = "Open"
	}
	if t.Labels != nil {
		t.Labels = strings.Split(strings.Join(t.Labels, ","), ",")
	}
	if kind := strings.ToLower(strings.ReplaceAll(t.TicketType.Value, "_", " ")); kind != "" {
		t.TicketType.Value = strings.ToUpper(kind[:1]) + kind[1:]
	}
	isSeveral := len(r.object.Get("assignees").Array()) > 1
	if isCSV {
		t.Assignee.Value, _, isSeveral = strings.Cut(t.Assignee.Value, ", ")
	}
	if isSeveral {
		r.notices["issues with several assignees, reduced to the first"]++
	}
	if number := int(r.object.Get("user_notes_count").Int()); number > 0 {
		r.notices["comments that GitLab's API does not return with issues"] += number
	}
	if parents := r.list("parent"); parents != nil {
		t.Links = []Link{}
		for _, parent := range parents {
			t.Links = append(t.Links, linkTo("child_of", parent, false))
		}
	}
	r.keepOthers(t, nil)
	return nil
}
