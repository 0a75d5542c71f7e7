package ticketfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// githubIssue is an issue as written by gh issue list or by the API, which names some fields
// differently.
type githubIssue struct {
	Number      int64           `json:"number"`
	Title       string          `json:"title"`
	Body        string          `json:"body"`
	State       string          `json:"state"`
	Reason      string          `json:"stateReason"`
	ReasonAPI   string          `json:"state_reason"`
	Author      githubName      `json:"author"`
	User        githubName      `json:"user"`
	Assignees   []githubName    `json:"assignees"`
	Labels      []githubName    `json:"labels"`
	Type        githubName      `json:"type"`
	IssueType   githubName      `json:"issueType"`
	Created     string          `json:"createdAt"`
	CreatedAPI  string          `json:"created_at"`
	Updated     string          `json:"updatedAt"`
	UpdatedAPI  string          `json:"updated_at"`
	Closed      string          `json:"closedAt"`
	ClosedAPI   string          `json:"closed_at"`
	Comments    githubComments  `json:"comments"`
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	PullRequest json.RawMessage `json:"pull_request"`
}

// githubName is the name of a user, label or type, which are objects.
type githubName struct{ Text }

func (n *githubName) UnmarshalJSON(value []byte) error {
	if value[0] != '{' { // null, or a label as a string
		return n.Text.UnmarshalJSON(value)
	}
	var object struct{ Login, Name string }
	err := json.Unmarshal(value, &object)
	n.Text = given(cmp.Or(object.Login, object.Name))
	return err
}

// githubComments are the comments that gh writes. The API writes their number.
type githubComments []struct {
	ID        Text       `json:"id"`
	Author    githubName `json:"author"`
	Body      Text       `json:"body"`
	CreatedAt string     `json:"createdAt"`
	UpdatedAt string     `json:"updatedAt"`
}

func (c *githubComments) UnmarshalJSON(value []byte) error {
	if value[0] != '[' {
		return nil
	}
	type list githubComments
	return json.Unmarshal(value, (*list)(c))
}

var githubFields = fieldNames{"key": {"number"}, "project_key": {"url"}, "name": {"title"}, "status": {"state"},
	"assignee": {"assignees"}, "reporter": {"author"}, "ticket_type": {"type"},
	"created_at": {"createdAt"}, "updated_at": {"updatedAt"}, "resolved_at": {"closedAt"}}

var errPullRequest = errors.New("a pull request")

func (o *objectRows) githubTicket(object json.RawMessage) (Ticket, error) {
	var issue githubIssue
	if err := decode(object, o.read, &issue); err != nil {
		return Ticket{}, err
	}
	if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" || strings.Contains(issue.address(), "/pull/") {
		o.reader.notices["pull requests left out"]++
		return Ticket{}, errPullRequest
	}
	return o.reader.githubTicket(issue)
}

// address returns the issue's web page. The API's own url field points to the API.
func (i githubIssue) address() string { return cmp.Or(i.HTMLURL, i.URL) }

func (r *Reader) githubTicket(i githubIssue) (Ticket, error) {
	if i.Number <= 0 {
		return Ticket{}, errors.New("number is missing")
	}
	repo, err := repository(i.address())
	if err != nil {
		return Ticket{}, err
	}
	key := strings.ToUpper(path.Base(repo))
	if other, known := r.repos[key]; known && other != repo {
		return Ticket{}, fmt.Errorf("the repositories %s and %s would have the same project key %s: import each from a file of its own, with a prefix", other, repo, key)
	}
	r.repos[key] = repo
	_, name, _ := strings.Cut(repo, "/")
	t := Ticket{
		Key: key + "-" + strconv.FormatInt(i.Number, 10), ProjectKey: key, Name: i.Title, Description: given(i.Body),
		CreatedAt: cmp.Or(i.Created, i.CreatedAPI), UpdatedAt: cmp.Or(i.Updated, i.UpdatedAPI), ResolvedAt: given(cmp.Or(i.Closed, i.ClosedAPI)),
		Reporter: given(cmp.Or(i.Author.Value, i.User.Value)), Assignee: given(""), TicketType: cmp.Or(i.IssueType.Text, i.Type.Text),
		Labels:  List[string]{},
		project: Project{Name: name, Origin: strings.ToLower(repo)},
	}
	t.Status, t.Category = i.status()
	if len(i.Assignees) > 0 {
		t.Assignee = i.Assignees[0].Text
	}
	if len(i.Assignees) > 1 {
		r.notices["issues with several assignees, reduced to the first"]++
	}
	for _, label := range i.Labels {
		t.Labels = append(t.Labels, label.Value)
	}
	if i.Comments != nil {
		t.Comments = List[Comment]{}
	}
	for _, c := range i.Comments {
		t.Comments = append(t.Comments, Comment{Key: c.ID, Author: c.Author.Value, Body: c.Body, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt})
	}
	return t, nil
}

// status names the state as GitHub's pages do.
func (i githubIssue) status() (name, category string) {
	if !strings.EqualFold(i.State, "closed") {
		return "Open", "to_do"
	}
	switch strings.ToLower(cmp.Or(i.Reason, i.ReasonAPI)) {
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
