package supabase_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sample documents are many enough to get lost among, and each question about them names one
// that is there.
func TestSampleDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("sample/documents/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	lines, err := os.ReadFile("sample/document_questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for line := range strings.Lines(string(lines)) {
		var q struct {
			Question, Document string
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Question == "" {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := os.Stat(filepath.Join("sample/documents", q.Document)); err != nil {
			t.Errorf("%s: %v", q.Question, err)
		}
		asked++
	}
	if asked < 30 {
		t.Errorf("%d questions", asked)
	}
}
