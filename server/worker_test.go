package main

import "testing"

// A worker embeds rows written while it runs, and stops on request.
func TestWorkerKeepsChunksInStep(t *testing.T) {
	owner, settings := startStack(t)
	run(t, work, settings)
	if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name) values ('P', 'Pumps')`); err != nil {
		t.Fatal(err)
	}
	await(t, owner, 1, `select count(*) from public.chunks`)
}
