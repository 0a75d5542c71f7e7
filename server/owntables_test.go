package main

import (
	"net/http"
	"strings"
	"testing"
)

// A running service copies what an application writes, embeds it, and counts what was refused.
func TestServiceCopiesAttachedTables(t *testing.T) {
	owner, settings := startStack(t)
	if _, err := owner.Exec(t.Context(), `
		create schema app;
		create table app.issues (id uuid primary key default gen_random_uuid(), title text, state text);
		create view app.projects as select 1 as project_id, 'APP' as key, 'Application' as name;
		create view app.tickets as select id as ticket_id, 1 as project_id, title as name, state as status from app.issues;
		insert into app.issues (title, state) values ('Kept', 'Open'), ('Refused', '');
		select from attach_tables('{
			"projects": {"view": "app.projects", "tables": {}},
			"tickets": {"view": "app.tickets", "tables": {"app.issues": {"id": "ticket_id"}}}}');
		select copy_changes();
		create function public.fail() returns trigger language plpgsql as 'begin raise insufficient_resources; end'`); err != nil {
		t.Fatal(err)
	}
	url, _ := startService(t, settings)
	if text := fetch(t, http.MethodGet, url+"/readyz", "", http.StatusOK); text != `{"status":"ready","refused_rows":1}` {
		t.Errorf("readyz says %s", text)
	}
	if text := fetch(t, http.MethodGet, url+"/metrics", "", http.StatusOK); !strings.Contains(text, "\ntasklens_refused_rows 1\n") {
		t.Errorf("metrics are %s", text)
	}
	write := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	write(`insert into app.issues (title, state) values ('Later', 'Open')`)
	await(t, owner, 1, `select count(*) from public.chunks join public.tickets t using (ticket_id) where t.name = 'Later'`)
	// Texts are embedded even while nothing can be copied.
	write(`create trigger fail before insert on public.tickets for each row when (new.name = 'Stuck') execute function public.fail()`)
	write(`insert into app.issues (title, state) values ('Stuck', 'Open')`)
	write(`insert into public.projects (key, name) values ('P', 'By hand')`)
	await(t, owner, 1, `select count(*) from public.chunks join public.projects p using (project_id) where p.key = 'P'`)
	write(`drop trigger fail on public.tickets`)
	await(t, owner, 1, `select count(*) from public.chunks join public.tickets t using (ticket_id) where t.name = 'Stuck'`)
	write(`alter view app.tickets rename to hidden`)
	if text := fetch(t, http.MethodGet, url+"/readyz", "", http.StatusOK); !strings.Contains(text, `"own_tables":["the view of tickets cannot be read"]`) {
		t.Errorf("without a view readyz says %s", text)
	}
	write(`alter view app.hidden rename to tickets`)
	if text := fetch(t, http.MethodGet, url+"/readyz", "", http.StatusOK); strings.Contains(text, "own_tables") {
		t.Errorf("once it is back readyz says %s", text)
	}
}
