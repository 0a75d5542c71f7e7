package main

import (
	"strings"
	"testing"
)

// Before a verification touches a project, it refuses to spend more than a dollar and asks.
func TestVerifyLiveAsksBeforeItBegins(t *testing.T) {
	for name, value := range map[string]string{
		"SUPABASE_URL": "http://127.0.0.1:1", "METRICS_URL": "-", "SERVER": "-", "SUPABASE_CLI": "-", "REPORT": "-", "FOLDER": "../../supabase/sample",
		"OPENAI_BASE_URL": "", "EMBEDDING_MODEL": "text-embedding-3-small",
	} {
		t.Setenv(name, value)
	}
	for model, c := range map[string]struct {
		args    []string
		refused string
	}{
		"gpt-4o":      {args: []string{"--yes"}, refused: "more than $1.00"},
		"gpt-99":      {args: []string{"--yes"}, refused: "gpt-99 are unknown"},
		"gpt-4o-mini": {refused: "answer yes"}, // there is nobody at a test's standard input
	} {
		t.Setenv("CHAT_MODEL", model)
		if err := verifyLive(t.Context(), c.args); err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", model, err, c.refused)
		}
	}
}
