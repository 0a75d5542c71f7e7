package supabase_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/schema.md names functions with the migrations that define them.
func TestSchemaPageNamesFiles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z_]+)` \\(([0-9]{4})\\)|`([a-z_]+)`, ([0-9]{4})\\)").FindAllStringSubmatch(string(page), -1)
	if len(named) < 15 {
		t.Fatalf("the page names %d functions", len(named))
	}
	for _, n := range named {
		function, number := n[1]+n[3], n[2]+n[4]
		files, _ := filepath.Glob("migrations/2026112700" + number + "_*.sql")
		if len(files) != 1 {
			t.Errorf("%s: migration %s: %v", function, number, files)
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "."+function+"(") {
			t.Errorf("%s is not in %s", function, files[0])
		}
	}
}
