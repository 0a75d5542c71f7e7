package ticketfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// githubFields are the members' names as gh issue list writes them and, second, the API.
var githubFields = fieldNames{"key": {"number"}, "project_key": {"url"}, "name": {"title"}, "description": {"body"}, "status": {"state"},
	"assignee": {"assignees"}, "reporter": {"author", "user"}, "ticket_type": {"issueType", "type"}, "labels": {"labels"},
	"created_at": {"createdAt", "created_at"}, "updated_at": {"updatedAt", "updated_at"}, "resolved_at": {"closedAt", "closed_at"},
	"reason": {"stateReason", "state_reason"}}

var errPullRequest = errors.New("a pull request")

func (o *objectRows) githubTicket(object json.RawMessage) (Ticket, error) {
	var issue struct {
		Number      int64           `json:"number"`
		URL         string          `json:"url"`
		HTMLURL     string          `json:"html_url"`
		PullRequest json.RawMessage `json:"pull_request"`
		Comments    json.RawMessage // of the API, their number
	}
	if err := decode(object, o.read, &issue); err != nil {
		return Ticket{}, err
	}
	address := cmp.Or(issue.HTMLURL, issue.URL) // the API's own url points to the API
	if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" || strings.Contains(address, "/pull/") {
		o.reader.notices["pull requests left out"]++
		return Ticket{}, errPullRequest
	}
	if issue.Number <= 0 {
		return Ticket{}, errors.New("number is missing")
	}
	repo, err := repository(address)
	if err != nil {
		return Ticket{}, err
	}
	key := strings.ToUpper(path.Base(repo))
	if other, known := o.reader.repos[key]; known && other != repo {
		return Ticket{}, fmt.Errorf("the repositories %s and %s would have the same project key %s: import each from a file of its own, with a prefix", other, repo, key)
	}
	o.reader.repos[key] = repo
	var members map[string]json.RawMessage
	if err := decode(object, o.read, &members); err != nil {
		return Ticket{}, err
	}
	f := fields{githubFields, o.reader.cellsOf(members)}
	t := f.ticket(o.read)
	_, name, _ := strings.Cut(repo, "/")
	t.Key, t.ProjectKey, t.project = key+"-"+strconv.FormatInt(issue.Number, 10), key, Project{Name: name, Origin: strings.ToLower(repo)}
	t.Status, t.Category = githubStatus(f.value("status"), f.value("reason"))
	if len(f.list("assignee")) > 1 {
		o.reader.notices["issues with several assignees, reduced to the first"]++
	}
	var comments []struct {
		ID                   Text
		Author               json.RawMessage
		Body                 Text
		CreatedAt, UpdatedAt string
	}
	if bytes.HasPrefix(issue.Comments, []byte("[")) {
		t.Comments = List[Comment]{}
		err = decode(issue.Comments, o.read, &comments)
	}
	for _, c := range comments {
		author := strings.Join(o.reader.valuesOf(c.Author), "")
		t.Comments = append(t.Comments, Comment{Key: c.ID, Author: author, Body: c.Body, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt})
	}
	return t, err
}

// githubStatus names the state as GitHub's pages do.
func githubStatus(state, reason string) (name, category string) {
	if !strings.EqualFold(state, "closed") {
		return "Open", "to_do"
	}
	switch strings.ToLower(reason) {
	case "not_planned":
		return "Not planned", "done"
	case "duplicate":
		return "Duplicate", "done"
	}
	return "Closed", "done"
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
