// Package console is the page for people at /: its files with their version, and the policy
// that browsers hold it to. It holds no data: the page asks the API for all that it shows, as its
// user. It knows nothing of HTTP's routes.
package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

//go:embed static/*.html static/*.css static/*.js static/*.svg
var static embed.FS

// Options are what the page has to know of the service. All of it is public.
type Options struct {
	Auth           bool   `json:"auth"`            // callers need a token
	SupabaseURL    string `json:"supabase_url"`    // where users sign in; "": they paste a token
	PublishableKey string `json:"publishable_key"` // that Supabase Auth wants to see
	TicketURL      string `json:"ticket_url"`      // a ticket in the tracker, with {key}; "": unknown
}

// Console is the page with its parts.
type Console struct {
	Page    []byte            // HTML
	Parts   map[string][]byte // by name
	Version string            // of the parts: under it they never change
	Policy  string            // the page's Content-Security-Policy
}

// unread matches what browsers do not need: comments, alone on their lines or at their ends, doc
// comments (types in JSDoc are a fifth of the files) and indentation. Vendored files have none.
var unread = regexp.MustCompile(`(?m)^[ \t]*//.*\n|[ \t]+// .*$|(?s:[ \t]*/\*\*? .*?\*/)|^[ \t]+`)

// New reads the files.
func New(options Options) (*Console, error) {
	entries, err := static.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	c := &Console{Parts: map[string][]byte{}, Policy: policy(options)}
	all := sha256.New()
	for _, entry := range entries {
		text, err := static.ReadFile("static/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read the console's files: %w", err)
		}
		text = unread.ReplaceAll(text, nil)
		fmt.Fprintf(all, "%s %d\n%s", entry.Name(), len(text), text)
		c.Parts[entry.Name()] = text
	}
	c.Version = hex.EncodeToString(all.Sum(nil))[:16]
	settings, err := json.Marshal(options) // with <, > and & escaped, so that it ends no script
	if err != nil {
		return nil, fmt.Errorf("encode the console's settings: %w", err)
	}
	c.Page = []byte(strings.NewReplacer("{{version}}", c.Version, "{{settings}}", string(settings)).Replace(string(c.Parts["index.html"])))
	delete(c.Parts, "index.html")
	return c, nil
}

// policy lets the page use its own files and ask its own service, and Supabase Auth where users
// sign in there.
func policy(options Options) string {
	ask := "'self'"
	if u, err := url.Parse(options.SupabaseURL); err == nil && u.Host != "" {
		ask += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " + ask +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
