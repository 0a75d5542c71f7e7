package ticketfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

var githubNames = fieldNames{
	key: "number", project: "url", name: "title", status: "state", created: "createdAt", updated: "updatedAt",
	resolved: "closedAt", due: "due date", category: "state", assignee: "assignees", reporter: "author", ticketType: "type",
	priority: "priority", labels: "labels", comments: "comments", links: "links",
}

// githubIssue is an issue as gh issue list --json writes it, or as GitHub's REST API does.
type githubIssue struct {
	Number      int64           `json:"number"`
	Title       string          `json:"title"`
	Body        string          `json:"body"`
	State       string          `json:"state"`
	Assignees   []githubUser    `json:"assignees"`
	Labels      []githubLabel   `json:"labels"`
	Comments    json.RawMessage `json:"comments"` // a list, or how many there are
	URL         string          `json:"url"`
	PullRequest json.RawMessage `json:"pull_request"`
	Type        *githubType     `json:"type"`

	// gh
	StateReason string      `json:"stateReason"`
	Author      *githubUser `json:"author"`
	CreatedAt   string      `json:"createdAt"`
	UpdatedAt   *string     `json:"updatedAt"`
	ClosedAt    *string     `json:"closedAt"`

	// REST
	RESTReason  string      `json:"state_reason"`
	User        *githubUser `json:"user"`
	RESTCreated string      `json:"created_at"`
	RESTUpdated *string     `json:"updated_at"`
	RESTClosed  *string     `json:"closed_at"`
	Page        string      `json:"html_url"`
}

type githubUser struct {
	Login string `json:"login"`
}

type githubType struct {
	Name string `json:"name"`
}

// githubLabel is an object with a name, or the name alone.
type githubLabel struct{ name string }

func (l *githubLabel) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &l.name)
	}
	var label struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(text, &label)
	l.name = label.Name
	return err
}

type githubComment struct {
	ID        json.RawMessage `json:"id"`
	Author    *githubUser     `json:"author"`
	Body      string          `json:"body"`
	CreatedAt string          `json:"createdAt"`
	UpdatedAt string          `json:"updatedAt"`
}

// githubRows reads issues from arrays, one after the other, or from objects.
type githubRows struct {
	name    string
	from    *meter
	json    *json.Decoder
	inArray bool
	seen    map[string]bool // the projects that nextProject has returned
}

func newGitHubRows(name string, from *bufio.Reader) *githubRows {
	metered := &meter{from: from}
	return &githubRows{name: name, from: metered, json: json.NewDecoder(metered), seen: map[string]bool{}}
}

// nextTicket returns the next issue that is no pull request, a *RowError, io.EOF, or an error of the stream.
func (r *githubRows) nextTicket() (Ticket, error) {
	for {
		ticket, isPull, _, err := r.next()
		if err != nil || !isPull {
			return ticket, err
		}
	}
}

// nextProject returns the next repository not returned before, io.EOF, or an error of the stream.
func (r *githubRows) nextProject() (Project, error) {
	for {
		ticket, isPull, repository, err := r.next()
		var bad *RowError
		switch {
		case errors.As(err, &bad) || isPull:
			continue
		case err != nil:
			return Project{}, err
		case !r.seen[ticket.ProjectKey]:
			r.seen[ticket.ProjectKey] = true
			return Project{Key: ticket.ProjectKey, Name: repository}, nil
		}
	}
}

func (r *githubRows) next() (ticket Ticket, isPull bool, repository string, err error) {
	raw, at, err := r.object()
	if err != nil {
		return Ticket{}, false, "", err
	}
	var issue githubIssue
	if err := unmarshal(raw, &issue); err != nil {
		return Ticket{}, false, "", at.wrong("%v", err)
	}
	if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" {
		return Ticket{}, true, "", nil
	}
	owner, name, err := issue.repository()
	if err != nil {
		return Ticket{}, false, "", at.wrong("%v", err)
	}
	ticketRow, err := issue.ticket(name)
	if err == nil {
		ticket, err = checkTicket(ticketRow, githubNames, at)
	}
	if err != nil {
		return Ticket{}, false, "", at.wrong("%v", err)
	}
	return ticket, false, owner + "/" + name, nil
}

// object returns the next JSON object and where it ends.
func (r *githubRows) object() (json.RawMessage, place, error) {
	for {
		r.from.allow(r.json)
		if r.inArray && !r.json.More() {
			if _, err := r.json.Token(); err != nil {
				return nil, place{}, r.broken(err)
			}
			r.inArray = false
			continue
		}
		if !r.inArray {
			next, err := r.peek()
			if err != nil {
				return nil, place{}, err
			}
			if next == '[' {
				if _, err := r.json.Token(); err != nil {
					return nil, place{}, r.broken(err)
				}
				r.inArray = true
				continue
			}
		}
		var raw json.RawMessage
		if err := r.json.Decode(&raw); err != nil {
			return nil, place{}, r.broken(err)
		}
		return raw, place{r.name, r.from.line(r.json.InputOffset() - int64(len(raw)))}, nil
	}
}

// peek returns the first byte of the next value that is at the top.
func (r *githubRows) peek() (byte, error) {
	if !r.json.More() { // skips white space; false at the end, and before a bracket that closes nothing
		_, err := r.json.Token()
		return 0, r.broken(err)
	}
	var first [64]byte
	buffered := r.json.Buffered().(*bytes.Reader)
	n, _ := buffered.Read(first[:])
	text := bytes.TrimLeft(first[:n], " \t\r\n")
	if len(text) == 0 {
		return '{', nil
	}
	return text[0], nil
}

// broken is an error of the JSON, after which nothing can be read.
func (r *githubRows) broken(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF && r.inArray || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends within a value: it was cut off")
	case err == io.EOF || err == nil:
		return io.EOF
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", r.from.line(syntax.Offset), err)
	}
	return err
}

// repository reads the owner and the name out of the issue's address.
func (i githubIssue) repository() (owner, name string, err error) {
	address := i.Page
	if address == "" {
		address = i.URL
	}
	if address == "" {
		return "", "", errors.New("url is missing: name it in gh issue list --json")
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", "", fmt.Errorf("url %s is no address", quote(address))
	}
	parts := strings.Split(strings.TrimPrefix(strings.Trim(u.Path, "/"), "repos/"), "/")
	if len(parts) < 4 || parts[0] == "" || parts[1] == "" {
		return "", "", fmt.Errorf("url %s names no repository", quote(address))
	}
	return parts[0], parts[1], nil
}

func (i githubIssue) ticket(repository string) (rawTicket, error) {
	if i.Number <= 0 {
		return rawTicket{}, errors.New("number is missing")
	}
	project := strings.ToUpper(repository)
	raw := rawTicket{
		key:         project + "-" + strconv.FormatInt(i.Number, 10),
		project:     project,
		name:        i.Title,
		description: i.Body,
		created:     i.CreatedAt + i.RESTCreated,
		updated:     first(i.UpdatedAt, i.RESTUpdated),
		labels:      []string{},
	}
	category, resolved := "to_do", ""
	raw.status = "Open"
	if strings.EqualFold(i.State, "closed") {
		category, raw.status = "done", "Closed"
		if strings.EqualFold(i.StateReason+i.RESTReason, "not_planned") {
			raw.status = "Not planned"
		}
		if closed := first(i.ClosedAt, i.RESTClosed); closed != nil {
			resolved = *closed
		}
	}
	raw.category, raw.resolved = &category, &resolved
	reporter, assignee := "", ""
	for _, user := range []*githubUser{i.Author, i.User} {
		if user != nil {
			reporter = user.Login
		}
	}
	if len(i.Assignees) > 0 {
		assignee = i.Assignees[0].Login
	}
	raw.reporter, raw.assignee = &reporter, &assignee
	if i.Type != nil {
		raw.ticketType = &i.Type.Name
	}
	for _, label := range i.Labels {
		raw.labels = append(raw.labels, label.name)
	}
	if len(i.Comments) == 0 || i.Comments[0] != '[' {
		return raw, nil
	}
	var comments []githubComment
	if err := json.Unmarshal(i.Comments, &comments); err != nil {
		return rawTicket{}, fmt.Errorf("comments cannot be read: %w", err)
	}
	raw.comments = []rawComment{}
	for _, c := range comments {
		comment := rawComment{Key: strings.Trim(string(c.ID), `"`), Body: jsonText(c.Body), Created: c.CreatedAt, Updated: c.UpdatedAt}
		if c.Author != nil {
			comment.Author = c.Author.Login
		}
		raw.comments = append(raw.comments, comment)
	}
	return raw, nil
}

func first(texts ...*string) *string {
	for _, text := range texts {
		if text != nil {
			return text
		}
	}
	return nil
}

// meter hands a stream on, counts its lines, and ends it where one value is longer than MaxRow: a decoder would hold all of it.
type meter struct {
	from  io.Reader
	read  int64
	limit int64
	lines []int64 // where lines begin that a row may still start on
	first int     // the number of the first of these, from 0
}

func (m *meter) Read(p []byte) (int, error) {
	if m.read >= m.limit {
		return 0, errTooLong
	}
	n, err := m.from.Read(p[:min(int64(len(p)), m.limit-m.read)])
	for i, b := range p[:n] {
		if b == '\n' {
			m.lines = append(m.lines, m.read+int64(i)+1)
		}
	}
	m.read += int64(n)
	return n, err
}

// allow lets the decoder read one more value.
func (m *meter) allow(decoder *json.Decoder) { m.limit = decoder.InputOffset() + MaxRow }

// line is the number of the line of a place, which is not before one asked for earlier.
func (m *meter) line(offset int64) int {
	for len(m.lines) > 0 && m.lines[0] <= offset {
		m.lines = m.lines[1:]
		m.first++
	}
	return m.first + 1
}
