-- Values for a frontend's filters, and the record of migrations, which tells the service that the
-- schema is complete.

begin;
select plan(7);

set local role service_role;
select is_empty($$ select * from public.list_projects() $$, 'an empty tracker has no projects');
select is_empty($$ select * from public.list_statuses() $$, 'an empty tracker has no statuses');

insert into public.status (status_id, name) values (7, 'To Do'), (3, 'Doing'), (5, 'Done');
insert into public.projects (project_id, key, name) values (1, 'ZZ', 'Last'), (2, 'AA', 'First'), (3, 'MM', 'Empty');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 1, 7, 'a'), (12, 1, 7, 'b'), (13, 2, 3, 'c');

select results_eq(
  $$ select * from public.list_projects() $$,
  $$ values (2::bigint, 'AA', 'First', 1::bigint), (3, 'MM', 'Empty', 0), (1, 'ZZ', 'Last', 2) $$,
  'projects are ordered by key, with their number of tickets');
select results_eq(
  $$ select * from public.list_statuses() $$, $$ values (3::bigint, 'Doing'), (5, 'Done'), (7, 'To Do') $$,
  'statuses are in the order of their creation, used or not');

select throws_ok(
  $$ select version from private.migrations $$, '42501', null, 'the record of migrations is the owner''s');
create temporary table told as select version from public.list_migrations() as version;
reset role;
select results_eq(
  $$ select version from told $$, $$ select version from supabase_migrations.schema_migrations order by version $$,
  'service_role reads the versions in order');
select isnt_empty($$ select from told where version = '20260101000100' $$, 'starting from the first one');

select * from finish();
rollback;
