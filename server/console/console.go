// Package console is the page for people at /: its files, packed and with a version, and the policy
// that browsers hold it to. It holds no data: the page asks the API for all that it shows, as its
// user. It knows nothing of HTTP's routes.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

//go:embed static/*.html static/*.css static/*.js static/*.svg
var static embed.FS

// kinds are the files that are served; others, such as types for the checker, are not.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Options are what the page has to know of the service. All of it is public.
type Options struct {
	Auth           bool   `json:"auth"`            // callers need a token
	SupabaseURL    string `json:"supabase_url"`    // where users sign in; "": they paste a token
	PublishableKey string `json:"publishable_key"` // that Supabase Auth wants to see
}

// File is a file as it is served.
type File struct {
	Kind   string // its media type
	Plain  []byte
	Packed []byte // by gzip
	Tag    string // a strong entity tag of the plain bytes, without its quotes
}

// Console is the page with its parts.
type Console struct {
	Page    File
	Version string // of the parts: under it they never change
	Policy  string // the page's Content-Security-Policy
	parts   map[string]File
}

// New reads and packs the files.
func New(options Options) (*Console, error) {
	entries, err := fs.ReadDir(static, "static")
	if err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	c := &Console{parts: map[string]File{}}
	all := sha256.New()
	var page string
	for _, entry := range entries {
		text, err := static.ReadFile("static/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read the console's files: %w", err)
		}
		kind := path.Ext(entry.Name())
		if kind == ".html" {
			page = string(text)
		} else if kinds[kind] != "" {
			fmt.Fprintf(all, "%s %d\n%s", entry.Name(), len(text), text)
			if c.parts[entry.Name()], err = newFile(kind, text); err != nil {
				return nil, err
			}
		}
	}
	c.Version = hex.EncodeToString(all.Sum(nil))[:16]
	settings, err := json.Marshal(options) // with <, > and & escaped, so that it ends no script
	if err != nil {
		return nil, fmt.Errorf("encode the console's settings: %w", err)
	}
	page = strings.NewReplacer("{{version}}", c.Version, "{{settings}}", string(settings)).Replace(page)
	if c.Page, err = newFile(".html", []byte(page)); err != nil {
		return nil, err
	}
	c.Policy = policy(options)
	return c, nil
}

// Part is a file that the page names.
func (c *Console) Part(name string) (File, bool) {
	file, found := c.parts[name]
	return file, found
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

func newFile(kind string, text []byte) (File, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(text)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return File{}, fmt.Errorf("pack the console's files: %w", err)
	}
	sum := sha256.Sum256(text)
	return File{Kind: kinds[kind], Plain: text, Packed: packed.Bytes(), Tag: hex.EncodeToString(sum[:16])}, nil
}
