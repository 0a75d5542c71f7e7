// Package describe is how the offline chat model describes a document: its keywords, the names in
// it, and how long it stays valid. It counts and looks up words and understands nothing. It does
// not know HTTP, nor how the description is used.
package describe

import "strings"

// Description is the description of a document. Its JSON is the response.
type Description struct {
	Keywords      []string `json:"keywords"` // most relevant first, in lower case
	NamedEntities []Entity `json:"named_entities"`
	TemporalClass string   `json:"temporal_class"` // evergreen, current, dated, historical or unknown
}

// Entity is a name in the text, and its type.
type Entity struct {
	Name string `json:"name"`
	Type string `json:"type"` // person, organization, system, place, ticket or other
}

// maxRead limits how many bytes of a document are read.
const maxRead = 256 << 10

// Document describes a document. It is deterministic.
func Document(title, content string) Description {
	if len(content) > maxRead {
		content = strings.ToValidUTF8(content[:maxRead], "")
	}
	return Description{Keywords: keywords(title, content), NamedEntities: entities(title, content), TemporalClass: temporalClass(title, content)}
}
