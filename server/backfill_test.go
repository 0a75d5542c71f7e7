package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// printed returns what a verb writes to standard output.
func printed(t *testing.T, do func() error) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	kept := os.Stdout
	os.Stdout = writer
	err = do()
	os.Stdout = kept
	_ = writer.Close()
	if err != nil {
		t.Error(err)
	}
	text := make([]byte, 64<<10) // the capacity of a pipe
	n, _ := reader.Read(text)
	_ = reader.Close()
	return string(text[:n])
}

// catchStderr catches what is printed on standard error from now on, with every step of progress,
// and returns how to read it.
func catchStderr(t *testing.T) func() string {
	t.Helper()
	interval, stderr := progressInterval, os.Stderr
	t.Cleanup(func() { progressInterval, os.Stderr = interval, stderr })
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	progressInterval, os.Stderr = 0, file
	return func() string {
		t.Helper()
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestBackfill(t *testing.T) {
	owner, settings := startStack(t)
	setEnvironment(t, settings)
	// Like rows created before the triggers.
	if _, err := owner.Exec(t.Context(), `insert into public.status (name) values ('Done'); insert into public.projects (key, name) values ('P', 'Pumps');
		insert into public.tickets (project_id, status_id, name, description) select p.project_id, s.status_id, 'Pump ' || i, repeat('It leaks. ', 20)
			from generate_series(1, 150) i, public.projects p, public.status s;
		truncate tasklens.embedding_jobs`); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		return printed(t, func() error { return backfill(t.Context(), args) })
	}
	output := run("--price", "1000")
	tokens := regexp.MustCompile(`151 sources to embed by words-1, about (\d+) tokens`).FindStringSubmatch(output)
	if tokens == nil || len(tokens[1]) != 5 || !strings.Contains(output, "Nothing was changed") { // 150 tickets of some 70 tokens, and headers
		t.Errorf("output is %q", output)
	}
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)
	if output := run("--yes"); !strings.Contains(output, "151 sources were added") || !strings.Contains(output, "151 chunks are stored; 0 sources have none.") {
		t.Errorf("output is %q", output)
	}
	if output := run(); !strings.Contains(output, "0 sources to embed") {
		t.Errorf("after the backfill the output is %q", output)
	}
	if output := run("--everything"); !strings.Contains(output, "151 sources to embed by words-1, about 0 tokens") {
		t.Errorf("output of --everything is %q", output)
	}
	// What cannot be stored is reported, and the rest goes on.
	if _, err := owner.Exec(t.Context(), `alter table public.chunks add check (text not in ('Belt 7', 'Belt 8'));
		alter table tasklens.embedding_jobs alter column attempts set default 9; -- the next is the last
		insert into public.tickets (project_id, status_id, name) select p.project_id, s.status_id, 'Belt ' || i
			from generate_series(1, 20) i, public.projects p, public.status s`); err != nil {
		t.Fatal(err)
	}
	var failure error
	output = printed(t, func() error { failure = backfill(t.Context(), []string{"--yes"}); return nil })
	if failure == nil || !strings.Contains(failure.Error(), "2 sources failed permanently") || !strings.Contains(output, "169 chunks are stored; 2 sources have none.") {
		t.Errorf("output is %q, the error %v", output, failure)
	}
}
