package console

import (
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxPacked is the maximum transfer of a first visit.
const maxPacked = 60_000

func TestSize(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	parts := []string{string(c.Page)}
	for _, name := range slices.Sorted(maps.Keys(c.Parts)) { // the order changes how well it packs
		parts = append(parts, string(c.Parts[name]))
	}
	for _, part := range parts {
		if _, err := writer.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	total := packed.Len()
	t.Logf("%d bytes packed", total)
	if total > maxPacked {
		t.Errorf("%d bytes packed, over %d", total, maxPacked)
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
