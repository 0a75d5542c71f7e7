package postgrest

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tasklens/internal/fault"
)

// A token that PostgREST rejects is invalid, even if the connection is reset before its answer is
// read: it does not read the body. A good token's reset is no 401.
func TestResetOfARejectedToken(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > readAnyway {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0) // close resets
			_ = conn.Close()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") == "Bearer rejected" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"PGRST301","message":"No suitable key or wrong key type","details":null,"hint":null}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	client := New(server.URL, "key", "public")
	arguments := map[string]string{"text": strings.Repeat("a", 1<<20)}
	for range 20 {
		if err := client.AsUser("rejected").Call(t.Context(), "search", arguments, nil); fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("a rejected token: %v", err)
		}
		if err := client.AsUser("good").Call(t.Context(), "search", arguments, nil); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("a good token: %v", err)
		}
		if err := client.AsService().Call(t.Context(), "search", arguments, nil); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("the service: %v", err)
		}
	}
}

// A claim with U+0000 cannot be read by any policy. The same answer to a good token is about the
// arguments.
func TestClaimThatIsNoText(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"22P05","message":"unsupported Unicode escape sequence","details":"\\u0000 cannot be converted to text.","hint":null}`)
	}))
	t.Cleanup(server.Close)
	client := New(server.URL, "key", "public")
	for claims, want := range map[string]fault.Code{
		`{"a":"\u0000"}`: fault.Unauthorized, `{"a":["b\\\u0000"]}`: fault.Unauthorized, `{"\u0000":1}`: fault.Unauthorized,
		`{"a":"b"}`: fault.Invalid, `{"a":"\\u0000"}`: fault.Invalid, `{"a":"\u0001"}`: fault.Invalid,
	} {
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
		if err := client.AsUser(token).Call(t.Context(), "search", nil, nil); fault.CodeOf(err) != want {
			t.Errorf("claims %s: %v, want %q", claims, err, want)
		}
	}
	if err := client.AsService().Call(t.Context(), "search", nil, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("the service's: %v", err)
	}
}
