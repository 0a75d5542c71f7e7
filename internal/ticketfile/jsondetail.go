package ticketfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type jsonNote struct {
	Status  string          `json:"status"`
	Text    json.RawMessage `json:"note"`
	Created string          `json:"created_at"`
}

// richText reads a string unchanged, and an object as an Atlassian document.
func richText(field string, raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '{':
		text, err := readADF(raw)
		if err != nil {
			return "", fmt.Errorf("%s must be a string, not object, unless it is an Atlassian document", field)
		}
		return text, nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", fmt.Errorf("%s must be a string, not %s", field, jsonKind(raw))
	}
	return s, nil
}

// jsonKind names the type of raw as encoding/json does.
func jsonKind(raw json.RawMessage) string {
	switch raw[0] {
	case '[':
		return "array"
	case '{':
		return "object"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

// jsonLabels returns nil if the list is absent, and an empty list if it is null or empty.
// jsonComments and jsonLinks do the same.
func jsonLabels(given json.RawMessage) ([]string, error) {
	if given == nil {
		return nil, nil
	}
	var labels []string
	if json.Unmarshal(given, &labels) != nil {
		return nil, errors.New("labels are left out: they must be a list of strings")
	}
	return append([]string{}, labels...), nil
}

func jsonComments(given json.RawMessage) ([]rawComment, error) {
	if given == nil {
		return nil, nil
	}
	var list []struct {
		Key     json.RawMessage `json:"key"`
		Author  string          `json:"author"`
		Body    json.RawMessage `json:"body"`
		Created string          `json:"created_at"`
		Updated string          `json:"updated_at"`
	}
	if json.Unmarshal(given, &list) != nil {
		return nil, errors.New("comments are left out: they must be a list of objects with the strings key, author, body, created_at and updated_at")
	}
	comments := []rawComment{}
	for _, c := range list {
		key, err := idText("comments.key", c.Key)
		if err != nil {
			return nil, fmt.Errorf("comments are left out: %w", err)
		}
		body, err := richText("comments.body", c.Body)
		if err != nil {
			return nil, fmt.Errorf("comments are left out: %w", err)
		}
		comments = append(comments, rawComment{key: key, author: c.Author, body: body, created: c.Created, updated: c.Updated})
	}
	return comments, nil
}

func jsonLinks(given json.RawMessage) ([]Link, error) {
	if given == nil {
		return nil, nil
	}
	var list []struct {
		Kind string          `json:"kind"`
		Key  json.RawMessage `json:"key"`
	}
	if json.Unmarshal(given, &list) != nil {
		return nil, errors.New("links are left out: they must be a list of objects with the strings kind and key")
	}
	links := []Link{}
	for _, l := range list {
		link, known := linkKinds[strings.ToLower(strings.TrimSpace(l.Kind))]
		if !known {
			return nil, fmt.Errorf("links are left out: kind %s is none of %s", quote(l.Kind), strings.Join(slices.Sorted(maps.Keys(linkKinds)), ", "))
		}
		var err error
		if link.Key, err = idText("links.key", l.Key); err != nil {
			return nil, fmt.Errorf("links are left out: %w", err)
		}
		links = append(links, link)
	}
	return links, nil
}
