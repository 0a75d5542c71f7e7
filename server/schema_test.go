package main

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// A project has tables of our names in public, so that ours are in a schema of their own.
func TestSchemaOfItsOwn(t *testing.T) {
	db := testbed.Empty(t)
	owner := testbed.Connect(t, db.OwnerURL)
	if _, err := owner.Exec(t.Context(), "create table public.projects (id uuid); create table public.tickets (id uuid)"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", `PATH=$PGBIN:$PATH exec ../supabase/apply --schema lens "$0"`, db.OwnerURL).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, settings := startStackOver(t, db, "public", "lens")
	settings = with(settings, "SUPABASE_SCHEMA", "lens")
	setEnvironment(t, settings)
	folder := testbed.Folder(t, "export", map[string]string{
		"projects.jsonl": `{"project_id": "TX", "name": "Checkout"}`,
		"tickets.jsonl":  `{"ticket_id": "TX-1", "project_id": "TX", "name": "Charged twice", "description": "Two charges for one order."}`,
	})
	if err := importFiles(t.Context(), []string{folder}); err != nil {
		t.Fatal(err)
	}
	if err := checkInstallation(t.Context(), nil); err != nil {
		t.Error(err)
	}
	p := startProgram(t, settings)
	fetch(t, http.MethodGet, p.url+"/readyz", "", http.StatusOK)
	if body := fetch(t, http.MethodPost, p.url+"/api/hybrid-search", `{"query": "charged twice"}`, http.StatusOK); !strings.Contains(body, `"matched_by":["vector","keyword"]`) {
		t.Errorf("search: %s", body)
	}
	if body := fetch(t, http.MethodPost, p.url+"/api/query", `{"question": "Why was the order charged twice?", "match_threshold": 0}`, http.StatusOK); !strings.Contains(body, `"TX-1"`) {
		t.Errorf("question: %s", body)
	}

	// Without the setting, and with a schema that is not exposed, the program says so.
	setEnvironment(t, with(settings, "SUPABASE_SCHEMA", "public"))
	if err := importFiles(t.Context(), []string{folder}); err == nil || !strings.Contains(err.Error(), "SUPABASE_SCHEMA") {
		t.Errorf("without the setting: %v", err)
	}
	settings = with(settings, "SUPABASE_SCHEMA", "other")
	setEnvironment(t, settings)
	said := printed(t, func() error {
		if err := checkInstallation(t.Context(), nil); err == nil || err.Error() != "errors found: 1" {
			t.Errorf("check: %v", err)
		}
		return nil
	})
	if want := "error    SUPABASE_SCHEMA: the API does not expose this schema\n         → Add the schema to those that the API exposes (api.schemas in supabase/config.toml;"; !strings.Contains(said, want) || strings.Contains(said, "PGRST106") {
		t.Errorf("check: %s", said)
	}
	if err := importFiles(t.Context(), []string{folder}); err == nil || !strings.Contains(err.Error(), "Add the schema to those that the API exposes") {
		t.Errorf("import: %v", err)
	}
	p = startProgram(t, settings)
	if body := fetch(t, http.MethodGet, p.url+"/readyz", "", http.StatusServiceUnavailable); !strings.Contains(body, "SUPABASE_SCHEMA") {
		t.Errorf("readiness: %s", body)
	}
}
