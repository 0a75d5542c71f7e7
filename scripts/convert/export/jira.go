package export

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// jira is a CSV export, or issues as the REST API returns them, versions 2 and 3. Fold makes most
// names of the two one.
var jira = tracker{
	name: "jira", title: "Jira",
	header: []string{"Issue key", "Summary"},
	shows: func(first gjson.Result) bool {
		return first.Get("fields").IsObject() || first.Get("issues").IsArray() ||
			first.Get("id").Exists() && (first.Get("self").Exists() || first.Get("key").Exists() || len(first.Map()) == 1)
	},
	first: "key and fields, or a list of issues, as Jira's has",
	columns: columns{
		"key": {"Issue key"}, "project_key": {"Project key"}, "name": {"Summary"}, "description": {"Description"}, "status": {"Status"},
		"status_category": {"Status Category"}, "assignee": {"Assignee"}, "reporter": {"Reporter"}, "ticket_type": {"Issue Type"}, "priority": {"Priority"},
		"labels": {"Labels", "Components"}, "due_date": {"Due date"}, "created_at": {"Created"}, "updated_at": {"Updated"}, "resolved_at": {"Resolved", "resolutiondate"},
		"comments": {"Comment"}, "links": {"issuelinks"}, "parent": {"Parent key", "Custom field (Epic Link)", "Epic Link", "Parent", "Parent id"}, "children": {"subtasks"},
		"project.name": {"Project name", "project"}, "project.description": {"Project description"}, "source_id": {"Issue id"},
	},
	names: map[string]string{"fixVersions": "Fix versions", "versions": "Affects versions", "resolution": "Resolution", "environment": "Environment"},
	inner: treeOf(`comment.total comment.maxResults comment.startAt comment.self comment.comments.id comment.comments.self comment.comments.author comment.comments.updateAuthor comment.comments.body
		comment.comments.created comment.comments.updated comment.comments.level issuelinks.id issuelinks.self issuelinks.type.id issuelinks.type.self issuelinks.type.name issuelinks.type.inward
		issuelinks.type.outward ` + jiraIssueIn("parent subtasks issuelinks.inwardIssue issuelinks.outwardIssue") + ` status.name status.id status.self status.iconUrl status.description
		status.statusCategory.id status.statusCategory.self status.statusCategory.key status.statusCategory.name status.statusCategory.colorName issuetype.name issuetype.id issuetype.self
		issuetype.iconUrl issuetype.description issuetype.subtask issuetype.avatarId issuetype.entityId issuetype.hierarchyLevel priority.name priority.id priority.self priority.iconUrl
		project.key project.name project.id project.self project.avatarUrls project.projectTypeKey project.simplified project.projectCategory project.description`),
	object: jiraMembers,
	markup: jiraText,
	finish: (*row).finishJira,
}

// jiraIssueIn has what Jira says of another issue where it is linked.
func jiraIssueIn(members string) (paths string) {
	for member := range strings.FieldsSeq(members) {
		for inner := range strings.FieldsSeq("id key self fields.summary fields.status fields.priority fields.issuetype") {
			paths += " " + member + "." + inner
		}
	}
	return paths
}

// jiraParts are what an issue has beside its fields and the names of them.
var jiraParts = treeOf("id key self expand fields names schema")

// jiraMembers returns the fields of an issue, nil if it has none.
func jiraMembers(s *issues, issue gjson.Result) members {
	fields := issue.Get("fields").Map()
	if len(fields) == 0 {
		s.bare++
		return nil
	}
	fields["issuekey"], fields["projectkey"], fields["statuscategory"] = issue.Get("key"), fields["project"].Get("key"), fields["status"].Get("statusCategory.key")
	fields["issueid"] = issue.Get("id")
	for name, part := range issue.Map() {
		if _, is := jiraParts[fold(name)]; !is {
			fields["issue."+name] = part // such as its history
		}
	}
	return fields
}

func (r *row) finishJira(t *Ticket) error {
	if !r.object.Exists() {
		r.readJiraCells(t)
	}
	if page := r.members["comment"]; page.Exists() {
		t.Comments = r.comments(page.Get("comments"), "created", "updated")
		r.pages.comments += max(0, int(page.Get("total").Int())-len(page.Get("comments").Array()))
	}
	if links := r.members["issuelinks"]; links.Exists() {
		t.Links = []Link{}
		for _, link := range links.Array() {
			kind := link.Get("type.name").String()
			r.addJiraLink(t, kind, r.valueOf(link.Get("inwardIssue")), true)
			r.addJiraLink(t, kind, r.valueOf(link.Get("outwardIssue")), false)
		}
	}
	if t.ProjectKey = cmp.Or(t.ProjectKey, projectOf(t.Key)); t.ProjectKey == "" && t.Key != "" {
		return fmt.Errorf("Project key is missing, and Issue key %s does not contain one", quote(t.Key))
	}
	t.project = Project{Name: r.value("project.name"), Description: r.value("project.description")}
	t.URL = jiraPage(r.object.Get("self").String(), t.Key)
	r.keepOthers(t, func(column string, values []string) bool {
		link := linkColumn.FindStringSubmatch(column)
		if link != nil && t.Links == nil {
			t.Links = []Link{}
		}
		for _, key := range values {
			if link != nil {
				r.addJiraLink(t, link[2], key, strings.EqualFold(link[1], "in"))
			}
		}
		return link != nil
	})
	if parent := r.value("parent"); parent != "" {
		t.Links = append(t.Links, linkTo("child_of", parent, false))
	}
	return nil
}

// readJiraCells reads the comments of a CSV export, which has no visibility for them.
func (r *row) readJiraCells(t *Ticket) {
	cells := r.list("comments")
	if len(cells) > 0 {
		r.unclear["comments in Jira's CSV (date;author;text; its JSON says it of each)"] += len(cells)
	}
	if len(cells) > 0 && r.options.Restricted == Omit {
		r.notices["comments left out, because the file has no visibility for them"] += len(cells)
	}
	if cells != nil && (len(cells) == 0 || r.options.Restricted == Keep) {
		t.Comments = []Comment{}
		for _, cell := range cells {
			t.Comments = append(t.Comments, jiraComment(cell))
		}
	}
}

// jiraComment reads date;author;text. A cell without a leading date is all text.
func jiraComment(cell string) Comment {
	created, rest, ok := strings.Cut(cell, ";")
	if _, err := ParseDate(created); !ok || err == errNoDate || strings.TrimSpace(created) == "" {
		return Comment{Body: cell}
	}
	author, body, ok := strings.Cut(rest, ";")
	if !ok {
		author, body = "", rest
	}
	return Comment{CreatedAt: created, Author: author, Body: body}
}

// jiraPage returns the address of an issue's page by that in the API, "" if this does not tell it.
func jiraPage(self, key string) string {
	site, _, is := strings.Cut(self, "/rest/api/")
	if !is || !strings.HasPrefix(site, "http") || strings.Contains(site, "://api.") { // of a gateway
		return ""
	}
	return site + "/browse/" + url.PathEscape(strings.TrimSpace(key))
}

// jiraText converts a text to Markdown: from Atlassian's document JSON, else from wiki markup.
func jiraText(text string, people people) string {
	if read := adfText(text, people); read != text {
		return read
	}
	return readWiki(text, people)
}

// adfText converts Atlassian's document JSON to Markdown, and leaves other text as it is.
func adfText(text string, people people) string {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, `"doc"`) {
		if read, is := readADF([]byte(trimmed), people); is {
			return read
		}
	}
	return text
}

// linkColumn matches a column of links of one type.
var linkColumn = regexp.MustCompile(`(?i)^(in|out)ward issue link \((.*)\)$`)

// jiraLinkKinds maps Jira's link types to ours. A clone is a plain relation: it started as a copy
// but may be about something else by now.
var jiraLinkKinds = map[string]string{
	"duplicate": "duplicates", "duplicates": "duplicates",
	"blocks": "blocks", "blocker": "blocks", "block": "blocks",
	"relates": "relates_to", "related": "relates_to", "relates to": "relates_to", "relation": "relates_to",
	"cloners": "relates_to", "clones": "relates_to", "cloned": "relates_to",
}

func (r *row) addJiraLink(t *Ticket, name, key string, inward bool) {
	if key == "" {
		return
	}
	kind, known := jiraLinkKinds[strings.ToLower(strings.TrimSpace(name))]
	if !known {
		kind = "relates_to"
		r.notices["link type read as relates_to: "+strings.Trim(quote(name), `"`)] = 0
	}
	t.Links = append(t.Links, linkTo(kind, key, inward))
}

// projectOf returns what stands before the number in a ticket's key, if it ends in one.
func projectOf(key string) string {
	at := strings.LastIndexByte(key, '-')
	if at < 0 || strings.Trim(key[at:], "-0123456789 ") != "" {
		return ""
	}
	return key[:at]
}
