package ticketfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

var githubNames = fieldNames{key: "number", project: "url", name: "title", status: "state", created: "createdAt", updated: "updatedAt",
	category: "state", labels: "labels", due: "due", resolved: "closedAt", comments: "comments", links: "links",
	texts: textNames(func(f textField) string { return f.github })}

// githubIssue is an issue as written by gh issue list or by the API, which names some fields
// differently.
type githubIssue struct {
	Number      int64           `json:"number"`
	Title       string          `json:"title"`
	Body        string          `json:"body"`
	State       string          `json:"state"`
	Reason      string          `json:"stateReason"`
	ReasonAPI   string          `json:"state_reason"`
	Author      *githubUser     `json:"author"`
	User        *githubUser     `json:"user"`
	Assignees   []githubUser    `json:"assignees"`
	Labels      []githubLabel   `json:"labels"`
	Type        json.RawMessage `json:"type"`
	IssueType   json.RawMessage `json:"issueType"`
	Created     string          `json:"createdAt"`
	CreatedAPI  string          `json:"created_at"`
	Updated     string          `json:"updatedAt"`
	UpdatedAPI  string          `json:"updated_at"`
	Closed      string          `json:"closedAt"`
	ClosedAPI   string          `json:"closed_at"`
	Comments    json.RawMessage `json:"comments"` // a list from gh, a number from the API
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	PullRequest json.RawMessage `json:"pull_request"`
}

type githubUser struct {
	Login string `json:"login"`
}

type githubLabel struct {
	Name string `json:"name"`
}

type githubComment struct {
	ID      json.RawMessage `json:"id"`
	Author  *githubUser     `json:"author"`
	Body    string          `json:"body"`
	Created string          `json:"createdAt"`
	Updated string          `json:"updatedAt"`
}

// githubRows reads the issues of an export.
type githubRows struct {
	name    string // of the file, for RowErrors
	values  *jsonValues
	notices *notices
	repos   map[string]string // host/owner/name, by project key
	seen    map[string]bool   // the projects that nextProject has returned
}

func newGithubRows(name string, from *bufio.Reader, n *notices) *githubRows {
	return &githubRows{name: name, values: &jsonValues{from: from, max: MaxRow}, notices: n, repos: map[string]string{}, seen: map[string]bool{}}
}

// nextTicket returns the next issue, a *RowError, io.EOF, or an error of the stream.
func (g *githubRows) nextTicket() (Ticket, error) {
	for {
		value, err := g.values.next()
		at := place{g.name, g.values.start}
		if err == errTooLong {
			return Ticket{}, at.wrong("%v", err)
		}
		if err != nil {
			return Ticket{}, err
		}
		var issue githubIssue
		if err := json.Unmarshal(value, &issue); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				return Ticket{}, at.wrong("%s must not be %s", wrong.Field, wrong.Value)
			}
			return Ticket{}, at.wrong("this is not an issue: %v", err)
		}
		if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" || strings.Contains(issue.address(), "/pull/") {
			g.notices.pullRequests++
			continue
		}
		ticket, err := g.ticket(issue, at)
		if err != nil {
			return Ticket{}, at.wrong("%v", err)
		}
		return ticket, nil
	}
}

func (g *githubRows) nextProject() (Project, error) {
	ticket, err := nextNew(g.nextTicket, g.seen)
	if err != nil {
		return Project{}, err
	}
	repo := g.repos[ticket.ProjectKey]
	_, name, _ := strings.Cut(repo, "/")
	return Project{Key: ticket.ProjectKey, Name: name, Origin: strings.ToLower(repo)}, nil
}

// address returns the issue's web page. The API's own url field points to the API.
func (i githubIssue) address() string { return first(i.HTMLURL, i.URL) }

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

func (g *githubRows) ticket(issue githubIssue, at place) (Ticket, error) {
	if issue.Number <= 0 {
		return Ticket{}, missing("number")
	}
	repo, err := repository(issue.address())
	if err != nil {
		return Ticket{}, err
	}
	key := projectKey(repo)
	if other, known := g.repos[key]; known && other != repo {
		return Ticket{}, fmt.Errorf("the repositories %s and %s would have the same project key %s: import each from a file of its own, with a prefix", other, repo, key)
	}
	g.repos[key] = repo
	texts := map[string]string{"assignee": "", "reporter": ""}
	for _, user := range []*githubUser{issue.User, issue.Author} {
		if user != nil {
			texts["reporter"] = user.Login
		}
	}
	if len(issue.Assignees) > 0 {
		texts["assignee"] = issue.Assignees[0].Login
		if len(issue.Assignees) > 1 {
			g.notices.assignees++
		}
	}
	if kind, has := issue.kind(); has {
		texts["ticket_type"] = kind
	}
	closed := first(issue.Closed, issue.ClosedAPI)
	status, category := issue.status()
	raw := rawTicket{
		key: key + "-" + strconv.FormatInt(issue.Number, 10), project: key, name: issue.Title, description: issue.Body,
		status: status, category: category,
		created: first(issue.Created, issue.CreatedAPI), updated: first(issue.Updated, issue.UpdatedAPI), resolved: &closed,
		texts: texts, labels: []string{},
	}
	for _, label := range issue.Labels {
		raw.labels = append(raw.labels, label.Name)
	}
	if raw.comments, err = issue.comments(); err != nil {
		return Ticket{}, err
	}
	return checkTicket(raw, githubNames, at)
}

// status names the state as GitHub's pages do.
func (i githubIssue) status() (name, category string) {
	if !strings.EqualFold(i.State, "closed") {
		return "Open", "to_do"
	}
	switch strings.ToLower(first(i.Reason, i.ReasonAPI)) {
	case "not_planned":
		return "Not planned", "done"
	case "duplicate":
		return "Duplicate", "done"
	}
	return "Closed", "done"
}

// kind returns the name of the issue's type, if the export has types.
func (i githubIssue) kind() (name string, has bool) {
	for _, given := range []json.RawMessage{i.IssueType, i.Type} {
		if len(given) == 0 {
			continue
		}
		var kind struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(given, &kind) // null or not a type: none
		return kind.Name, true
	}
	return "", false
}

func (i githubIssue) comments() ([]rawComment, error) {
	if len(i.Comments) == 0 || i.Comments[0] != '[' { // the API gives their number
		return nil, nil
	}
	var list []githubComment
	if json.Unmarshal(i.Comments, &list) != nil {
		return nil, errors.New("comments must be a list of objects, as gh writes it")
	}
	comments := []rawComment{}
	for _, c := range list {
		key, err := idText("comments.id", c.ID)
		if err != nil {
			return nil, err
		}
		comment := rawComment{key: key, body: c.Body, created: c.Created, updated: c.Updated}
		if c.Author != nil {
			comment.author = c.Author.Login
		}
		comments = append(comments, comment)
	}
	return comments, nil
}

// repository returns the host/owner/name in an issue's address.
func repository(address string) (string, error) {
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return "", errors.New("url is missing or not an address: it tells the repository (gh issue list --json url,…)")
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) > 0 && parts[0] == "repos" { // an address of the API
		parts = parts[1:]
	}
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" || parts[2] != "issues" {
		return "", fmt.Errorf("url %s is not one of a GitHub issue", quote(address))
	}
	return strings.TrimPrefix(u.Host, "api.") + "/" + parts[0] + "/" + parts[1], nil
}

// projectKey returns the repository's name in capitals.
func projectKey(repo string) string {
	return strings.ToUpper(path.Base(repo))
}
