package gateway

import "net/http"

// allowOrigin lets the pages of any origin call the gateway, as PostgREST does, and reports whether
// the request was a preflight, which it answers.
func allowOrigin(w http.ResponseWriter, r *http.Request) (preflight bool) {
	if r.Header.Get("Origin") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", "Content-Range, Content-Profile, Location, Proxy-Status")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	w.Header().Set("Access-Control-Allow-Headers",
		"apikey, authorization, x-client-info, accept, accept-profile, content-profile, content-type, prefer")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Prefixed serves a PostgREST under the path where Supabase has it, which is where supabase-js
// looks for it.
func Prefixed(rest http.Handler) http.Handler { return http.StripPrefix(prefix, rest) }
