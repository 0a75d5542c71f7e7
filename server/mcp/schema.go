package mcp

// schema is a JSON Schema.
type schema = map[string]any

func text(description string) schema {
	return schema{"type": "string", "description": description}
}

func integer(low, high int, description string) schema {
	return schema{"type": "integer", "minimum": low, "maximum": high, "description": description}
}

func number(description string) schema {
	return schema{"type": []string{"number", "null"}, "description": description}
}

func choice(description string, values ...string) schema {
	return schema{"type": "string", "enum": values, "description": description}
}

// maybe is a nullable text.
func maybe(description string) schema {
	return schema{"type": []string{"string", "null"}, "description": description}
}

func list(description string, of schema) schema {
	return schema{"type": "array", "items": of, "description": description}
}

// record is an object with these required members, open to others.
func record(properties schema, required ...string) schema {
	return schema{"type": "object", "properties": properties, "required": required}
}

// filters is the schema of the argument filters. The API document has the details; a model needs
// the names.
func filters() schema {
	names := func(description string) schema { return list(description, schema{"type": "string"}) }
	span := schema{"type": "object", "properties": schema{"from": schema{"type": "string"}, "to": schema{"type": "string"}},
		"description": "Days such as 2026-01-31, inclusive. Either end may be left out."}
	return schema{
		"type": "object", "description": "Narrows what is looked at; all that are given must hold. Names are compared without regard to case; a list is \"any of\".",
		"properties": schema{
			"projects": schema{"type": "array", "items": schema{"type": []string{"string", "integer"}}, "description": "Keys or ids, as list_projects gives them."},
			"statuses": names("Names of statuses, as list_projects gives them."),
			"open":     schema{"type": "boolean", "description": "true: only tickets that are not done."},
			"assignee": schema{"type": "string", "description": "A person as the tracker names them, or me."},
			"reporter": schema{"type": "string", "description": "A person as the tracker names them, or me."},
			"types":    names("Such as Bug."), "priorities": names("Such as High."),
			"labels": names("Any of these."), "labels_all": names("All of these."),
			"created": span, "updated": span, "due": span,
		},
	}
}

func fieldsArgument(usual string, more []string) schema {
	return schema{"type": "array", "items": schema{"type": "string", "enum": more},
		"description": "More fields of each result, besides " + usual + ". With text, texts come whole instead of clipped."}
}
