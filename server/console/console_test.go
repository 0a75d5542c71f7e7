package console

import (
	"strings"
	"testing"
)

// maxPacked is the maximum transfer of a first visit.
const maxPacked = 120 << 10

func TestSize(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := len(c.Page.Packed)
	for _, part := range c.parts {
		total += len(part.Packed)
	}
	t.Logf("%d bytes packed", total)
	if total > maxPacked {
		t.Errorf("%d bytes packed, over %d", total, maxPacked)
	}
}

// The operator's settings can end no script, and add only their origin to the policy.
func TestSettings(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Auth: true, SupabaseURL: "https://auth.example.com/sub?x=</script>", PublishableKey: "</script><script>"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(c.Page.Plain), "</script>"); got != 2 {
		t.Errorf("the page has %d closing script tags:\n%s", got, c.Page.Plain)
	}
	if !strings.Contains(c.Policy, "connect-src 'self' https://auth.example.com; ") {
		t.Errorf("the policy is %q", c.Policy)
	}
}
