// Package describe owns how the offline chat model reads a document: its keywords, the names that
// stand in it, and how long it holds. Words are counted and looked up, nothing is understood. It
// must not know HTTP, nor what becomes of what it says.
package describe

import "strings"

// Description is what is said of a document. Its JSON is the answer.
type Description struct {
	Keywords      []string `json:"keywords"` // the most telling first, in lower case
	NamedEntities []Entity `json:"named_entities"`
	TemporalClass string   `json:"temporal_class"` // evergreen, current, dated, historical or unknown
}

// Entity is a name as it stands in the text, and what kind of thing has it.
type Entity struct {
	Name string `json:"name"`
	Type string `json:"type"` // person, organization, system, place, ticket or other
}

// maxRead bounds the work on one document, in bytes.
const maxRead = 256 << 10

// Document describes a document. The same document is always described in the same way.
func Document(title, content string) Description {
	if len(content) > maxRead {
		content = strings.ToValidUTF8(content[:maxRead], "")
	}
	return Description{Keywords: keywords(title, content), NamedEntities: entities(title, content), TemporalClass: temporalClass(title, content)}
}
