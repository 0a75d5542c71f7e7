package export

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/tidwall/gjson"
)

// github is issues as gh issue list writes them and, second, the API, where fold does not make
// these one.
var github = tracker{
	name: "github", title: "GitHub",
	shows: func(first gjson.Result) bool { return first.Get("number").Int() > 0 && first.Get("title").Exists() },
	first: "number and title, as GitHub's has (gh issue list --json number,title,url,…)",
	columns: columns{
		"key": {"number"}, "project_key": {"url"}, "name": {"title"}, "description": {"body"}, "status": {"state"}, "reason": {"stateReason"},
		"assignee": {"assignees"}, "reporter": {"author", "user"}, "ticket_type": {"issueType", "type"}, "labels": {"labels"},
		"created_at": {"createdAt"}, "updated_at": {"updatedAt"}, "resolved_at": {"closedAt"}, "due_date": {"dueDate"}, "parent": {"parent", "parent_issue_url"}, "comments": {"comments"},
		"api": {"id", "node_id", "html_url", "repository_url", "labels_url", "comments_url", "events_url", "timeline_url", "pull_request", "assignee", "repository"},
	},
	inner: treeOf(`comments.id comments.node_id comments.url comments.html_url comments.author comments.body comments.createdAt comments.updatedAt comments.authorAssociation comments.includesCreatedEdit
		comments.viewerDidAuthor milestone.title milestone.dueOn milestone.id milestone.node_id milestone.url milestone.html_url milestone.labels_url milestone.number milestone.state
		milestone.creator milestone.open_issues milestone.closed_issues milestone.created_at milestone.updated_at milestone.closed_at
		repository.id repository.name repository.owner repository.full_name repository.nameWithOwner parent.id parent.number parent.title parent.url`),
	object: githubMembers,
	finish: (*row).finishGithub,
}

// githubMembers leaves out pull requests, which the API returns with the issues.
func githubMembers(s *issues, issue gjson.Result) members {
	if issue.Get("pull_request").IsObject() || strings.Contains(addressOf(issue), "/pull/") {
		s.notices["pull requests left out"]++
		return nil
	}
	return issue.Map()
}

func (r *row) finishGithub(t *Ticket) error {
	if r.object.Get("number").Int() <= 0 {
		return errors.New("number is missing")
	}
	address := addressOf(r.object)
	repo, err := repository(address)
	if err != nil {
		return err
	}
	if t.isIn(repo); !strings.Contains(address, "/repos/") { // which is not a page, but the API's
		t.URL = address
	}
	t.SourceID = r.object.Get("node_id").String()
	if id := r.object.Get("id"); t.SourceID == "" && (id.Type == gjson.String || !isGithub(address)) { // the number of GitHub's API goes with a node_id
		t.SourceID = id.String()
	}
	if milestone := r.members["milestone"]; milestone.Exists() && t.DueDate.Value == "" {
		t.DueDate = given(cmp.Or(milestone.Get("dueOn").String(), milestone.Get("due_on").String()))
	}
	if parent := r.object.Get("parent"); parent.Get("id").Exists() {
		t.Links = []Link{{Kind: "child_of", SourceID: parent.Get("id").String()}}
	} else if page := cmp.Or(parent.Get("url").String(), r.object.Get("parent_issue_url").String()); page != "" {
		of, err := repository(page)
		if err != nil {
			return err
		}
		t.Links = []Link{{Kind: "child_of", Key: strings.ToUpper(path.Base(of)) + "-" + path.Base(page)}}
	} else if parent.Exists() {
		t.Links = []Link{}
	}
	t.Status, t.Category = githubStatus(t.Status, r.value("reason"))
	if len(r.list("assignee")) > 1 {
		r.notices["issues with several assignees, reduced to the first"]++
	}
	if comments := r.object.Get("comments"); comments.IsArray() {
		t.Comments = r.comments(comments, "createdAt", "updatedAt")
	} else if number := int(comments.Int()); number > 0 { // of the API
		r.notices["comments that the API does not return with issues (gh issue list --json comments,… does)"] += number
	}
	r.keepOthers(t, nil)
	return nil
}

// addressOf returns the address of an issue's page: the API's own url points to the API.
func addressOf(issue gjson.Result) string {
	return cmp.Or(issue.Get("html_url").String(), issue.Get("url").String())
}

// isGithub reports whether an issue is GitHub's. The API of Forgejo and Gitea is alike.
func isGithub(address string) bool { return strings.Contains(address, "github") }

var githubReasons = map[string]string{"not_planned": "Not planned", "duplicate": "Duplicate"}

// githubStatus names the state as GitHub's pages do.
func githubStatus(state, reason string) (name, category string) {
	if !strings.EqualFold(state, "closed") {
		return "Open", "to_do"
	}
	return cmp.Or(githubReasons[strings.ToLower(reason)], "Closed"), "done"
}

// repository returns the host/owner/name in an issue's address.
func repository(address string) (string, error) {
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return "", errors.New("url is missing or not an address: it tells the repository (gh issue list --json url,…)")
	}
	parts := strings.Split(strings.TrimPrefix(strings.Trim(u.Path, "/"), "repos/"), "/") // repos/ in an address of the API
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" || parts[2] != "issues" {
		return "", fmt.Errorf("url %s is not one of a GitHub issue", quote(address))
	}
	return strings.TrimPrefix(u.Host, "api.") + "/" + parts[0] + "/" + parts[1], nil
}
