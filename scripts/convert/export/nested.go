package export

import (
	"strings"

	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// tree is the members of an object, by folded name, each with those of the objects in it. One
// without any stands for a value.
type tree map[string]tree

// treeOf makes a tree of paths: status.statusCategory.key; names.* is all that is in names.
func treeOf(paths string) tree {
	root := tree{}
	for path := range strings.FieldsSeq(paths) {
		at := root
		for name := range strings.SplitSeq(path, ".") {
			if at[fold(name)] == nil {
				at[fold(name)] = tree{}
			}
			at = at[fold(name)]
		}
	}
	return root
}

var (
	// called names what stands for an object: a person, a status, an option.
	called = []string{"displayName", "login", "value", "name", "key", "identifier", "title", "id"}
	// valued has these, and what says how such an object is addressed and shown.
	valued = treeOf(strings.Join(called, " ") + ` iid self node_id url html_url web_url href avatar_url avatarUrls iconUrl expand gravatar_id followers_url following_url gists_url starred_url
		subscriptions_url organizations_url repos_url events_url received_events_url type site_admin user_view_type is_bot username email emailAddress accountId accountType active timeZone locale
		state locked color default`)
)

// others calls found with the members of a value that a tree lacks, at any depth, by their paths.
// Those of a document are its text.
func (at tree) others(path string, value gjson.Result, found func(path string, value gjson.Result)) {
	if len(at) == 0 {
		at = valued
	}
	switch _, isAny := at[""]; {
	case isAny:
	case value.IsArray():
		for _, item := range value.Array() {
			at.others(path, item, found)
		}
	case value.IsObject() && adfText(value.Raw, nil) == value.Raw:
		value.ForEach(func(name, inner gjson.Result) bool {
			to := strings.TrimPrefix(path+"."+name.String(), ".")
			switch child, is := at[fold(name.String())]; {
			case is:
				child.others(to, inner, found)
			case !isBlank(inner) && !audience.Knows(name.String()):
				found(to, inner)
			}
			return true
		})
	}
}

// isBlank reports whether a value says nothing.
func isBlank(value gjson.Result) bool {
	return value.Raw == "null" || strings.Trim(value.Raw, "[]{}\" \t\r\n,") == ""
}
