-- Each change of an embedded text queues one job; other changes queue none.

begin;
select plan(32);

\ir kit/jobs.sql

create function pg_temp.jobs() returns table (what text)
language sql as $$
  select case when j.ticket_id is null then 'project ' || p.key || case when j.with_children then ' and tickets' else '' end else 'ticket ' || t.key end
    || case when j.background then ' (background)' else '' end
  from job j
  left join public.projects p on p.project_id = j.project_id
  left join public.tickets t on t.ticket_id = j.ticket_id
$$;
create function pg_temp.forget() returns void language sql as 'delete from tasklens.embedding_jobs';

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');

-- Changes that queue ------------------------------------------------------------------------------

insert into public.projects (project_id, key, name) values (1, 'TX', 'Taxes'), (2, 'RX', 'Roxette');
select bag_eq('select * from pg_temp.jobs()', array['project TX', 'project RX'], 'a new project queues a job');
select pg_temp.forget();

insert into public.tickets (ticket_id, key, project_id, status_id, name) values (1, 'TX-1', 1, 1, 'One'), (2, 'TX-2', 1, 1, 'Two');
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1', 'ticket TX-2'], 'a new ticket queues a job');
update public.tickets set description = 'more';
update public.tickets set name = 'Uno' where ticket_id = 1;
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (1, 1, 2, 'a note');
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1', 'ticket TX-2'], 'a ticket that changes several times has one job');
select pg_temp.forget();

update public.tickets set name = 'Eins' where ticket_id = 1;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1'], 'a new ticket name queues a job');
select pg_temp.forget();
update public.tickets set description = null where ticket_id = 2;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-2'], 'a new ticket description queues a job');
select pg_temp.forget();
update public.tickets set project_id = 2 where ticket_id = 2;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-2'], 'a ticket moved to another project queues a job');
select pg_temp.forget();
insert into public.tickets (key, project_id, status_id, name) values ('TX-1', 1, 1, 'Un')
  on conflict (key) do update set name = excluded.name;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1'], 'an upsert that changes a ticket queues a job');
select pg_temp.forget();

update public.status_changes set note = 'another note';
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1'], 'an edited note queues a job for its ticket');
select pg_temp.forget();
update public.status_changes set ticket_id = 2;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1', 'ticket TX-2'], 'a note moved to another ticket queues jobs for both tickets');
select pg_temp.forget();
delete from public.status_changes;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-2'], 'a deleted note queues a job for its ticket');
select pg_temp.forget();

update public.projects set description = 'about money' where project_id = 1;
select bag_eq('select * from pg_temp.jobs()', array['project TX'], 'a new project description queues a job for the project only');
update public.projects set name = 'Money' where project_id = 1;
select bag_eq('select * from pg_temp.jobs()', array['project TX', 'project TX and tickets'], 'a new project name queues a job that includes its tickets');
select pg_temp.forget();

-- Changes that queue nothing ----------------------------------------------------------------------

update public.tickets set status_id = 2;
update public.tickets set name = name, description = description, project_id = project_id;
select is_empty('select * from pg_temp.jobs()', 'a new status and a no-op update of a ticket queue nothing');
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (2, 1, 1, null), (3, 1, 1, '  ');
update public.status_changes set status_id = 2;
update public.status_changes set note = null;
delete from public.status_changes;
select is_empty('select * from pg_temp.jobs()', 'a status change without a note queues nothing');
update public.projects set name = name, created_at = now() - interval '1 day';
select is_empty('select * from pg_temp.jobs()', 'a project update that leaves its text unchanged queues nothing');
savepoint before;
update public.tickets set name = 'Never';
rollback to before;
select is_empty('select * from pg_temp.jobs()', 'a rolled-back edit queues nothing');

-- Edits while an older job is leased, delayed or dead ---------------------------------------------

update public.tickets set name = 'A' where ticket_id = 1;
update tasklens.embedding_jobs set lease_id = gen_random_uuid(), due_at = clock_timestamp() + interval '1 minute';
update public.tickets set name = 'B' where ticket_id = 1;
select is((select count(*) from job), 2::bigint, 'an edit of a ticket whose job is leased queues a second job');
update public.tickets set name = 'C' where ticket_id = 1;
select is((select count(*) from job), 2::bigint, 'a further edit of a ticket with a leased job queues no third job');
update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 minute' where lease_id is not null;
update public.tickets set name = 'D' where ticket_id = 1;
select is((select count(*) from job), 2::bigint, 'an edit of a ticket with an expired lease and a waiting job queues no third job');
delete from tasklens.embedding_jobs where lease_id is null;
update public.tickets set name = 'E' where ticket_id = 1;
select is((select count(*) from job), 2::bigint, 'an edit of a ticket with an expired lease queues a job, since the holder may still finish the old one');
select pg_temp.forget();

update public.tickets set name = 'F' where ticket_id = 1;
update tasklens.embedding_jobs set attempts = 3, due_at = clock_timestamp() + interval '1 hour';
update public.tickets set name = 'G' where ticket_id = 1;
select is((select count(*) from job where attempts = 0 and due_at <= clock_timestamp()), 1::bigint,
  'an edit is due at once even if the previous text is waiting for a retry');
select pg_temp.forget();
update public.tickets set name = 'H' where ticket_id = 1;
update tasklens.embedding_jobs set dead_at = now();
update public.tickets set name = 'I' where ticket_id = 1;
select is((select count(*) from job where dead_at is null), 1::bigint, 'an edit queues a job although the previous text''s job is dead');
select pg_temp.forget();

-- Bulk loads --------------------------------------------------------------------------------------

select from setval(pg_get_serial_sequence('public.tickets', 'ticket_id'), 1000);
select from setval(pg_get_serial_sequence('public.projects', 'project_id'), 1000);
select from setval(pg_get_serial_sequence('public.status_changes', 'status_change_id'), 1000);

-- A trigger that counts the added jobs and the statements that added them.
create temporary table added (statements bigint, rows bigint);
insert into added values (0, 0);
create function pg_temp.count_added() returns trigger language plpgsql security definer as $$
begin
  update pg_temp.added a set statements = a.statements + 1, rows = a.rows + (select count(*) from new_rows);
  return null;
end
$$;
create trigger count_added after insert on tasklens.embedding_jobs
  referencing new table as new_rows for each statement execute function pg_temp.count_added();

-- The keyword entries of 10,000 tickets would be slow and are not tested here.
create or replace function tasklens.refresh_entries(ticket_ids bigint[], project_ids bigint[] default '{}') returns void language sql as '';
insert into public.tickets (key, project_id, status_id, name)
select 'RX-' || n, 2, 1, 'Ticket ' || n from generate_series(1000, 10999) as n;
select results_eq('select * from added', 'values (1::bigint, 10000::bigint)', 'one statement queues the jobs of 10,000 new tickets');
select is((select count(*) from job where background), 10000::bigint, 'bulk-loaded tickets are queued as background jobs');
update public.tickets set name = 'By hand' where key = 'RX-10999';
select is((select count(*) from job where not background), 1::bigint, 'an edit of a bulk-loaded ticket queues a foreground job');
update public.tickets set name = 'By hand again' where key = 'RX-10999';
select is((select count(*) from job), 10001::bigint, 'a second edit of a bulk-loaded ticket queues no further job');
delete from public.tickets where key like 'RX-1%';
select is((select count(*) from job), 0::bigint + (select count(*) from public.tickets where key like 'RX-%'),
  'deleting tickets deletes their jobs');
update public.projects set description = 'soon gone' where project_id = 2;
delete from public.projects where project_id = 2;
select is_empty('select * from job', 'deleting a project deletes its job');

select from public.upsert_projects('[{"key": "LX", "name": "Lux"}]');
select from public.upsert_tickets('[{"key": "LX-1", "project_key": "LX", "name": "A", "status": "To Do", "notes": [{"note": "n"}]}]');
select is((select count(*) from tasklens.embedding_jobs where due_at <= clock_timestamp()), 2::bigint, 'imported rows are due at once');
select pg_temp.forget();

-- Any writer -------------------------------------------------------------------------------------

create role editor nologin;
grant editor to current_user;
grant usage on schema public to editor;
grant select, insert, update, delete on public.tickets, public.status_changes, public.projects, public.status to editor;
alter table public.tickets disable row level security;
alter table public.status_changes disable row level security;
alter table public.projects disable row level security;
alter table public.status disable row level security;
set local role editor;
select throws_ok('select * from tasklens.embedding_jobs', '42501', null, 'a role that may write tickets cannot read the queue');
select lives_ok($$
  update public.tickets set name = 'Edited by an editor' where key = 'TX-1';
  insert into public.tickets (key, project_id, status_id, name) values ('TX-9', 1, 1, 'New');
  insert into public.status_changes (ticket_id, note) select ticket_id, 'n' from public.tickets where key = 'TX-1';
  delete from public.tickets where key = 'TX-9';
  update public.projects set name = 'Renamed' where key = 'TX' $$, 'a role without access to the queue can write tickets, notes and projects');
reset role;
select bag_eq('select * from pg_temp.jobs()', array['ticket TX-1', 'project TX and tickets'], 'edits by a role without access to the queue queue jobs');

select * from finish();
rollback;
