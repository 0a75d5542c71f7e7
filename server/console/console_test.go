package console

import (
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The maximum transfer of a first visit, which needs the page, the files that it names and no
// others; and of all files.
const (
	maxFirst  = 52_500
	maxPacked = 65_500
)

func TestSize(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var first, others []byte
	for _, name := range slices.Sorted(maps.Keys(c.Parts)) { // the order changes how well it packs
		if bytes.Contains(c.Page, []byte("/"+name+`"`)) {
			first = append(first, c.Parts[name]...)
		} else {
			others = append(others, c.Parts[name]...)
		}
	}
	first = append(slices.Clone(c.Page), first...)
	checkPacked(t, "a first visit", first, maxFirst)
	checkPacked(t, "all files", append(first, others...), maxPacked)
}

func checkPacked(t *testing.T, what string, text []byte, most int) {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes packed", what, packed.Len())
	if packed.Len() > most {
		t.Errorf("%s: %d bytes packed, over %d", what, packed.Len(), most)
	}
}

// The operator's settings can end no script, and add only their origin to the policy.
func TestSettings(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Auth: true, SupabaseURL: "https://auth.example.com/sub?x=</script>", PublishableKey: "</script><script>", TicketURL: "https://x/</script>{key}"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(c.Page), "</script>"); got != 2 {
		t.Errorf("the page has %d closing script tags:\n%s", got, c.Page)
	}
	if !strings.Contains(c.Policy, "connect-src 'self' https://auth.example.com; ") {
		t.Errorf("the policy is %q", c.Policy)
	}
}
