package scripts

import (
	"os"
	"path/filepath"
	"testing"
)

// A restarted demo still accepts the tokens of scripts/token, whose issuer is its address.
func TestRestartKeepsTheIssuer(t *testing.T) {
	t.Parallel()
	for name, postgrest := range map[string]string{"the gateway": "", "PostgREST": "/bin/true"} {
		local := t.TempDir()
		lab := filepath.Join(local, "bin", "lab")
		write(t, lab, "#!/bin/sh\n[ $1 = token ] || { echo http://127.0.0.1:$PORT; exec sleep 600; }\n")
		if err := os.Chmod(lab, 0o700); err != nil {
			t.Fatal(err)
		}
		// PostgREST itself is not started; only its gateway at Supabase's path is.
		start := `unset SUPABASE_URL SUPABASE_REST_URL; POSTGREST_BIN=` + postgrest + ` AUTHENTICATOR_URL=none
			mkdir -p "$run"; if [ -n "$POSTGREST_BIN" ]; then begin_rest() { :; }; fi
			PATH=/usr/bin:/bin start_rest; end gateway; echo $SUPABASE_URL`
		first := shell(t, local, start)
		if again := shell(t, local, start); again != first || first == "" {
			t.Errorf("with %s the addresses are %s and %s", name, first, again)
		}
	}
}
