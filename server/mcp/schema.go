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

func fieldsArgument(usual string, more []string) schema {
	return schema{"type": "array", "items": schema{"type": "string", "enum": more},
		"description": "More fields of each result, besides " + usual + ". With text, texts come whole instead of clipped."}
}
