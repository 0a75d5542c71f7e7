package audience

import "testing"

// What exports of many kinds say of readers, in a record and at the head of a document. Doubt is
// what is asked about.
func TestLimits(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		`{"via":{"channel":"web"},"public":false,"audit_id":7}`:                          "public: false",
		`{"incoming":false,"private":"Yes","body_text":"x"}`:                             "private: Yes",
		`{"part_type":"note","body":"x"}`:                                                "? part_type: note",
		`{"thread":{"type":"note","state":"hidden"}}`:                                    "state: hidden",
		`{"post_type":1,"hidden":true,"hidden_at":null}`:                                 "hidden: true",
		`{"visibility":{"$type":"LimitedVisibility","permittedGroups":[{"name":"hr"}]}}`: "visibility: LimitedVisibility",
		`{"visibility":{"$type":"UnlimitedVisibility","permittedGroups":[]}}`:            "",
		`{"restrictions":{"read":{"group":["hr"]}}}`:                                     "restrictions: hr",
		`{"custom_fields":[{"id":3,"name":"Confidential","value":"1"}]}`:                 "Confidential",
		`{"custom_fields":[{"id":3,"name":"Severity","value":"1"}]}`:                     "",
		`{"groups":["core-security"],"is_creator_accessible":true}`:                      "groups: core-security",
		`{"sensitive":"1"}`:             "sensitive",
		`{"fields.security.name":"HR"}`: "fields.security.name: HR",
		`{"u_internal":"true"}`:         "u_internal: true",
		`{"remote_was_deleted":true}`:   "remote_was_deleted: true",
		`{"post_status":"private"}`:     "post_status: private",
		`{"pri\u0076ate":true}`:         "private: true",
		`{"PRIVATE ":"Y"}`:              "PRIVATE: Y",
		`{"internal_ref":17}`:           "? internal_ref",
		`{"searchHidden":true}`:         "? searchHidden: true",
		`{"public_wiki":false}`:         "? public_wiki: false",
		`{"TLP":"AMBER"}`:               "TLP: AMBER",
		`{"locked":false,"author_association":"NONE","public_repos":0,"draft":false}`:           "",
		`{"author":{"deleted":true,"public_email":""},"body":"private: true","title":"Hidden"}`: "",
		`{"not_published":true}`:       "not_published: true",
		`{"roles_allowed":["hr"]}`:     "roles_allowed: hr",
		`{"who_can_see":"hr"}`:         "who_can_see: hr",
		`{"hide_from_customers":true}`: "hide_from_customers: true",
		`{"labels":["private-beta","internal"],"private":false,"visibility":"public"}`:          "",
		`{"body":{"type":"doc","content":[{"type":"mention","attrs":{"accessLevel":"NONE"}}]}}`: "",
		`{"viewerDidAuthor":true,"isMinimized":false,"minimizedReason":"","republic":"no"}`:     "",
		`{"deleted_at":null,"security":null,"acl":[],"groups":[],"restriction":"none"}`:         "",
		`{"published":"2024-03-01","access_date":"2024-03-01","open_access":true}`:              "",
	} {
		if got := text(Of(false, "", record)); got != want {
			t.Errorf("%s: %q, want %q", record, got, want)
		}
	}
	for document, want := range map[string]string{
		"# Plan\n\nStatus: Draft\nOwner: Ann\n\nText":                                      "Status: Draft",
		"private:: true\ntags:: a\n\n- Text":                                               "private: true",
		"Title: Plan\nStatus: hidden\n\nText":                                              "Status: hidden",
		".. title: Plan\n.. status: private\n\nText":                                       "status: private",
		"#+TITLE: Plan\n#+PRIVATE: yes\n\nText":                                            "PRIVATE: yes",
		"<!-- private: true -->\n# Plan":                                                   "private: true",
		"# Plan\n\n---\nprivate: true\n---\nText":                                          "private: true",
		"---\nprivate: true\n\nText without an end":                                        "private: true",
		"---\nvisibility\n  : private\n{{x}}: 1\n---\nText":                                "visibility",
		"---\n? private\n: true\n---\nText":                                                "? private",
		"---\n<private>true</private>\n---\nText":                                          "<private>true</private>",
		"---\ntags: {{tags}}\nviewers:\n  - hr\n---\nText":                                 "viewers: hr",
		"---\ntags: {{tags}}\nprivate: # see below\n  true\n---\nText":                     "private: true",
		";;;\n{\"private\": true}\n;;;\nText":                                              "private: true",
		"{\n  \"private\": true,\n}\nText":                                                 "private: true",
		"---\ntitle: Internal tools: a guide\nprivate: false\n---\nText":                   "",
		"---\nWho reads private channels, and how hidden ones work.\n\nMore of it.\n---\n": "",
		"# Privacy\n\nPrivate: only members see it, and public ones everybody.\n":          "",
		"Text\n\n---\n\nprivate: true\n":                                                   "",
		"{{< note >}} This is internal {{< /note >}}\n":                                    "",
	} {
		if got := text(OfText(document)); got != want {
			t.Errorf("%q: %q, want %q", document, got, want)
		}
	}
	if got := Of(true, "", `{"status":"Draft","state":"private","type":"Internal"}`); got != (Limit{}) {
		t.Errorf("the state of a ticket limits it: %v", got)
	}
	if got := Of(true, "Draft", "true"); !got.Doubt {
		t.Errorf("a ticket that is a draft is not asked about: %v", got)
	}
}

func text(limit Limit) string {
	if limit.Doubt {
		return "? " + limit.Why
	}
	return limit.Why
}
