package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tasklens/server/api"
)

// oauth is a service with AUTH=on and an authorization server.
func oauth(c *setup) {
	authenticated(c)
	c.more = func(parts *api.Parts) { parts.Issuer = issuer }
}

type metadata struct {
	Resource string
	Servers  []string `json:"authorization_servers"`
}

// A request without a valid token learns where to get one.
func TestWhereTokensComeFrom(t *testing.T) {
	t.Parallel()
	s := start(t, oauth)
	place := s.url + "/.well-known/oauth-protected-resource/mcp"
	for _, c := range []struct {
		header []string
		want   string
	}{
		{nil, `Bearer resource_metadata="` + place + `"`},
		{asking("nonsense"), `Bearer resource_metadata="` + place + `", error="invalid_token"`},
	} {
		r := s.send(http.MethodPost, "/mcp", message("list_projects", nil), c.header...).want(http.StatusUnauthorized)
		if got := r.header.Get("WWW-Authenticate"); got != c.want {
			t.Errorf("WWW-Authenticate is %q, not %q", got, c.want)
		}
	}
	public := start(t, oauth, func(c *setup) {
		c.more = func(parts *api.Parts) { parts.Issuer, parts.PublicURL = issuer, "https://search.example.com" }
	})
	if got := read[metadata](public.get("/.well-known/oauth-protected-resource")); got.Resource != "https://search.example.com/mcp" || !slices.Equal(got.Servers, []string{issuer}) {
		t.Errorf("with an address of its own it is %+v", got)
	}
	off := start(t)
	off.get("/.well-known/oauth-protected-resource").want(http.StatusNotFound)
	off.get("/.well-known/oauth-protected-resource/mcp").want(http.StatusNotFound)
}

func origins(c *setup) { c.limits.Origins = []string{"https://app.example.com"} }

// A tool's inner requests take no further slot of those in flight.
func TestToolCallsTakeOnePlace(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.limits.InFlight = 1 })
	if r := s.tool("list_projects", nil); r.IsError {
		t.Errorf("it is refused: %s", r.Content[0].Text)
	}
}

// hostile is a text without what Postgres cannot store.
func hostile(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// texts returns all strings in a value.
func texts(value any) (all []string) {
	switch value := value.(type) {
	case string:
		all = append(all, value)
	case []any:
		for _, element := range value {
			all = append(all, texts(element)...)
		}
	case map[string]any:
		for key, member := range value {
			all = append(append(all, key), texts(member)...)
		}
	case json.RawMessage:
		var decoded any
		if json.Unmarshal(value, &decoded) == nil {
			all = texts(decoded)
		}
	}
	return all
}
