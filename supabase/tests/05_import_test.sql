-- Import of projects and tickets by external keys: new rows are inserted, changed ones updated, and
-- a repeated import changes nothing.

begin;
select plan(30);

-- Sets updated_at to the past, since now() is constant within a transaction, and saves the ctid of
-- each row.
create temporary table places (key text, place tid);
create procedure pg_temp.age()
language plpgsql as $$
declare
  name regclass;
begin
  foreach name in array array['public.projects', 'public.tickets']::regclass[] loop
    execute format('alter table %s disable trigger touch_updated_at', name);
    execute format('update %s set updated_at = ''2000-01-01''', name);
    execute format('alter table %s enable trigger touch_updated_at', name);
  end loop;
  truncate pg_temp.places;
  insert into pg_temp.places select key, ctid from public.projects union all select key, ctid from public.tickets;
end
$$;
-- The rows rewritten since. Rewriting a row changes its ctid even if the values stay the same.
create function pg_temp.written() returns setof text
language sql as $$
  select n.key from (select key, ctid from public.projects union all select key, ctid from public.tickets) n
  where not exists (select from pg_temp.places p where p.key = n.key and p.place = n.ctid)
$$;

-- Projects ----------------------------------------------------------------------------------------

create temporary table loaded as
  select * from public.upsert_projects('[{"key": "AA", "name": "Apples", "description": "fruit"}, {"key": "BB", "name": "Bananas"}]');
select results_eq(
  $$ select l.key, p.key, p.name, p.description from loaded l join public.projects p using (project_id) order by 1 $$,
  $$ values ('AA', 'AA', 'Apples', 'fruit'), ('BB', 'BB', 'Bananas', null) $$, 'new projects are inserted and their ids returned');

call pg_temp.age();
select results_eq(
  $$ select * from public.upsert_projects('[{"key": "BB", "name": "Bananas"}, {"key": "AA", "name": "Apples", "description": "fruit"}]') order by key $$,
  $$ select * from loaded order by key $$, 'the same import of projects again returns the same ids');
select is_empty($$ select * from pg_temp.written() $$, 'the same import of projects again writes nothing');

select results_eq(
  $$ select key from public.upsert_projects('[{"key": "AA", "name": "Apple"}, {"key": "AA", "name": "Apples", "description": "trees"},
       {"key": "BB", "name": "Bananas"}, {"key": "aa", "name": "Aargh"}]') order by key $$,
  $$ values ('AA'), ('AA'), ('BB'), ('aa') $$, 'a row is returned for each that is given');
select results_eq(
  $$ select key, name, description, updated_at = now() from public.projects order by key $$,
  $$ values ('AA', 'Apples', 'trees', true), ('BB', 'Bananas', null, false), ('aa', 'Aargh', null, true) $$,
  'for a duplicate key the last row counts, only changed rows are updated, and project keys are case-sensitive');
select is_empty($$ select * from public.upsert_projects('[]') $$, 'an import of an empty list of projects does nothing');

-- Tickets -----------------------------------------------------------------------------------------

insert into public.status (name) values ('To Do');
create temporary table load as select $$[
  {"key": "AA-7", "project_key": "AA", "status": "to do", "name": "Login fails", "description": "always",
   "created_at": "2024-05-06T07:08:09Z", "notes": [
     {"status": "Doing", "note": "seen", "created_at": "2024-06-01T00:00:00Z"},
     {"status": "doing", "note": "seen again"},
     {"note": "still there"}]},
  {"key": "BB-1", "project_key": "BB", "status": "DONE", "name": "Export"},
  {"key": "ZZ-1", "project_key": "ZZ", "status": "Lost", "name": "Of no project", "notes": [{"note": "lost too"}]}
]$$::jsonb as tickets;
create temporary table tickets_loaded as select u.* from load, public.upsert_tickets(load.tickets) u;

select results_eq(
  $$ select l.key, p.key, s.name, t.name, t.description, t.created_at = '2024-05-06T07:08:09Z', t.created_at = now()
     from tickets_loaded l
     join public.tickets t using (ticket_id)
     join public.projects p on p.project_id = l.project_id and p.project_id = t.project_id
     join public.status s using (status_id)
     order by 1 $$,
  $$ values ('AA-7', 'AA', 'To Do', 'Login fails', 'always', true, false), ('BB-1', 'BB', 'DONE', 'Export', null, false, true) $$,
  'new tickets are inserted and their ids returned; a ticket of an unknown project is skipped');
select results_eq(
  $$ select t.key, c.note, s.name, c.created_at = '2024-06-01', c.created_at = now()
     from public.status_changes c join public.tickets t using (ticket_id) left join public.status s on s.status_id = c.status_id
     order by c.status_change_id $$,
  $$ values ('AA-7', 'seen', 'Doing', true, false), ('AA-7', 'seen again', 'Doing', false, true), ('AA-7', 'still there', null, false, true) $$,
  'notes of new tickets are inserted in order');
select set_eq(
  $$ select name from public.status $$, array['To Do', 'Doing', 'DONE'],
  'unknown statuses are inserted once, regardless of case; those of a refused row are not');
select is((select count(*)::integer from public.tickets), 2, 'no other tickets are inserted');

call pg_temp.age();
create temporary table notes_before as select status_change_id from public.status_changes;
select set_eq(
  $$ select u.* from load, public.upsert_tickets(load.tickets) u $$, $$ select * from tickets_loaded $$,
  'the same import of tickets again returns the same ids');
select is_empty($$ select * from pg_temp.written() $$, 'the same import of tickets again writes no rows');
select set_eq($$ select status_change_id from public.status_changes $$, $$ select * from notes_before $$, 'the same import of tickets again inserts no notes');
select is((select count(*)::integer from public.status), 3, 'the same import of tickets again inserts no statuses');

select set_eq(
  $$ select key from public.upsert_tickets('[
       {"key": "aa-7", "project_key": "AA", "status": "Doing", "name": "Login still fails", "created_at": "2030-01-01T00:00:00Z"},
       {"key": "Bb-1", "project_key": "BB", "status": "done", "name": "Export"}]') $$,
  array['AA-7', 'BB-1'], 'a key in another case updates the same ticket, whose key stays as it was');
select results_eq(
  $$ select t.key, t.name, t.description, s.name, t.created_at = '2024-05-06T07:08:09Z', t.updated_at = now()
     from public.tickets t join public.status s using (status_id) where t.key = 'AA-7' $$,
  $$ values ('AA-7', 'Login still fails', null, 'Doing', true, true) $$,
  'a changed ticket is updated, with a new updated_at and the old created_at');
select ok((select updated_at < now() from public.tickets where key = 'BB-1'), 'an unchanged ticket of the same import keeps its updated_at');
select set_eq($$ select status_change_id from public.status_changes $$, $$ select * from notes_before $$, 'an import without notes deletes no notes');

select public.upsert_tickets('[
  {"key": "BB-2", "project_key": "BB", "status": "Done", "name": "first", "notes": [{"note": "twice"}, {"note": "twice"}]},
  {"key": "bb-2", "project_key": "BB", "status": "Done", "name": "last", "notes": [{"note": "twice"}, {"note": "more"}]}]');
select results_eq(
  $$ select name from public.tickets where upper(key) = 'BB-2' $$, array['last'], 'for a duplicate ticket key in any case the last row counts');
select results_eq(
  $$ select c.note from public.status_changes c join public.tickets t using (ticket_id) where t.name = 'last' order by c.status_change_id $$,
  array['twice', 'more'], 'a note that occurs twice in an import is inserted once');

select public.upsert_tickets('[{"key": "BB-2", "project_key": "BB", "status": "Done", "name": "last", "notes": [
  {"status": "Done"}, {"note": ""}, {"note": " \n"}, {"note": null}]}]');
select is(
  (select count(*)::integer from public.status_changes c join public.tickets t using (ticket_id) where t.name = 'last'), 2,
  'notes without text are skipped');
select lives_ok($$ select public.upsert_tickets('[{"key": "BB-2", "project_key": "BB", "status": "Done", "name": "last", "notes": []}]') $$,
  'a ticket with an empty list of notes is imported');

select public.upsert_tickets('[{"key": "BB-2", "project_key": "AA", "status": "Done", "name": "last"}]');
select is((select p.key from public.tickets t join public.projects p using (project_id) where t.name = 'last'), 'AA',
  'an import with another project moves the ticket');
select public.upsert_tickets('[{"key": "BB-2", "project_key": "ZZ", "status": "Done", "name": "lost", "notes": [{"note": "lost"}]}]');
select is_empty(
  $$ select from public.tickets where name = 'lost' union all select from public.status_changes where note = 'lost' $$,
  'a row of an unknown project is skipped entirely, even if the ticket exists');
select is_empty($$ select * from public.upsert_tickets('[]') $$, 'an import of an empty list of tickets does nothing');

-- Any writer -------------------------------------------------------------------------------------

call pg_temp.age();
update public.projects set name = name;
update public.tickets set name = name;
select is_empty(
  $$ select key from public.projects where updated_at > '2000-01-01' union all select key from public.tickets where updated_at > '2000-01-01' $$,
  'an update that changes nothing keeps updated_at');

-- Imported tickets are searchable, and the numbering continues after the highest.
select is((select ticket_id from public.search_by_keyword('"still there"')), (select ticket_id from public.tickets where key = 'AA-7'),
  'an imported note is found by keyword search');
insert into public.tickets (project_id, status_id, name) select project_id, status_id, 'filed by hand' from public.tickets where key = 'AA-7';
select is((select key from public.tickets where name = 'filed by hand'), 'AA-8', 'a ticket created after an import continues the numbering');

select throws_ok($$ select public.upsert_tickets('{"key": "AA-9"}') $$, '22023', null, 'an argument that is not a list is rejected');

-- The fixed order of writes prevents deadlocks between two imports of the same tickets.
select public.upsert_tickets(jsonb_agg(jsonb_build_object(
  'key', 'Q-' || i, 'project_key', (array['AA', 'BB'])[1 + i % 2], 'status', (array['Doing', 'Done', 'To Do'])[1 + i % 3], 'name', 'q') order by md5(i::text)))
from generate_series(1, 300) i;
select results_eq(
  $$ select key from public.tickets where name = 'q' order by ticket_id $$,
  $$ select 'Q-' || i from generate_series(1, 300) i order by upper('Q-' || i) $$, 'tickets are written in the order of their keys');

select * from finish();
rollback;
