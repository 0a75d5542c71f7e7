package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	jsonType   = "application/json; charset=utf-8"
	singleType = "application/vnd.pgrst.object+json; charset=utf-8"
	// prefix is where Supabase mounts PostgREST.
	prefix = "/rest/v1"
)

// target is what a request's line and headers ask for.
type target struct {
	schema   string
	function string
	// path is what PostgREST would see, without Supabase's prefix.
	path string
	// named means that a profile header chose the schema.
	named bool
	// read means GET or HEAD: arguments in the query, read-only.
	read bool
	// single requests the one row itself instead of an array.
	single bool
}

func (g *Gateway) route(r *http.Request) (target, error) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	to := target{path: path, schema: g.config.Schemas[0], read: r.Method == http.MethodGet || r.Method == http.MethodHead}
	profile := r.Header.Get("Content-Profile")
	if to.read {
		profile = r.Header.Get("Accept-Profile")
	}
	if profile != "" {
		if !slices.Contains(g.config.Schemas, profile) {
			return target{}, fault{status: http.StatusNotAcceptable, code: "PGRST106", message: "Invalid schema: " + profile,
				hint: "Only the following schemas are exposed: " + strings.Join(g.config.Schemas, ", ")}
		}
		to.schema, to.named = profile, true
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return target{}, invalidPath
		}
		segments[i] = plain
	}
	switch {
	case len(segments) == 1 && segments[0] == "":
		return target{}, fault{status: http.StatusNotFound, code: "PGRST126", message: "Root endpoint metadata is disabled"}
	case len(segments) == 1 && segments[0] == "rpc":
		return target{}, fault{status: http.StatusNotFound, code: "PGRST205",
			message: "Could not find the table '" + to.schema + ".rpc' in the schema cache"}
	case len(segments) == 1:
		return target{}, fault{status: http.StatusNotFound, code: "NO_TABLES",
			message: "The demo's stand-in for PostgREST serves functions only, not the table '" + segments[0] + "'.",
			hint:    "No migration is missing. Call a function with rpc(), or install PostgREST (or set POSTGREST_BIN) and restart the demo."}
	case len(segments) != 2 || segments[0] != "rpc" || segments[1] == "":
		return target{}, invalidPath
	}
	to.function = segments[1]
	if !to.read && r.Method != http.MethodPost {
		return target{}, fault{status: http.StatusMethodNotAllowed, code: "PGRST101", message: "Cannot use the " + r.Method + " method on RPC"}
	}
	single, ok := negotiate(r.Header.Values("Accept"))
	if !ok {
		return target{}, fault{status: http.StatusNotAcceptable, code: "PGRST107",
			message: "None of these media types are available: " + strings.Join(r.Header.Values("Accept"), ", ")}
	}
	to.single = single
	return to, nil
}

var invalidPath = fault{status: http.StatusNotFound, code: "PGRST125", message: "Invalid path specified in request URL"}

// negotiate picks the first known media type in the order written; weights are ignored. No header
// accepts anything.
func negotiate(accept []string) (single, ok bool) {
	if len(accept) == 0 {
		return false, true
	}
	for _, header := range accept {
		for part := range strings.SplitSeq(header, ",") {
			switch mediaType(part) {
			case "", "*/*", "application/*", "application/json", "application/vnd.pgrst.array+json", "application/vnd.pgrst.array":
				return false, true
			case "application/vnd.pgrst.object+json", "application/vnd.pgrst.object":
				return true, true
			}
		}
	}
	return false, false
}

// mediaType returns the type in lower case, without parameters.
func mediaType(header string) string {
	name, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(name))
}
