-- Values for a frontend's filters, and the list of applied migrations, by which the service checks
-- that the schema is complete.

begin;
select plan(11);

set local role service_role;
select is_empty($$ select * from public.list_projects() $$, 'list_projects of an empty tracker returns no rows');
select is_empty($$ select * from public.list_statuses() $$, 'list_statuses of an empty tracker returns no rows');

insert into public.status (status_id, name) values (7, 'To Do'), (3, 'Doing'), (5, 'Done');
insert into public.projects (project_id, key, name, language) values (1, 'ZZ', 'Last', null), (2, 'AA', 'First', 'german'), (3, 'MM', 'Empty', null);
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 1, 7, 'a'), (12, 1, 7, 'b'), (13, 2, 3, 'c');

select results_eq(
  $$ select * from public.list_projects() $$,
  $$ values (2::bigint, 'AA', 'First', 1::bigint, 'german'), (3, 'MM', 'Empty', 0, null), (1, 'ZZ', 'Last', 2, null) $$,
  'projects are sorted by key, with their number of tickets');
select results_eq(
  $$ select * from public.list_statuses() $$, $$ values (3::bigint, 'Doing'), (5, 'Done'), (7, 'To Do') $$,
  'all statuses are listed by id, used or not');
select results_eq(
  $$ select key from public.list_projects(match_count => 2) union all select key from public.list_projects('MM', 2) $$, array['AA', 'MM', 'ZZ'],
  'projects are listed in pages, after a key');
select results_eq(
  $$ select status_id from public.list_statuses(match_count => 2) union all select status_id from public.list_statuses(5, 2) $$, array[3, 5, 7]::bigint[],
  'statuses are listed in pages, after an id');
select is_empty($$ select key from public.list_projects('ZZ') union all select name from public.list_statuses(7) $$, 'no rows follow the last page');

select throws_ok(
  $$ select version from tasklens.migrations $$, '42501', null, 'service_role may not read the table of migrations');
create temporary table applied as select version from public.list_migrations() as version;
reset role;
select results_eq(
  $$ select version from applied $$, $$ select version from supabase_migrations.schema_migrations order by version $$,
  'list_migrations returns to service_role the versions that the migration tool recorded, in order');
select isnt_empty($$ select from applied where version = '20261127000100' $$, 'list_migrations includes the first migration');


insert into public.projects (project_id, key, name) select i, 'P' || i, 'p' from generate_series(101, 1101) i;
insert into public.status (status_id, name) select i, 's' || i from generate_series(101, 1101) i;
select results_eq(
  $$ select count(*) from public.list_projects(match_count => 5000) union all select count(*) from public.list_statuses(match_count => 5000) $$, array[1000, 1000]::bigint[],
  'a page has at most 1,000 rows');

select * from finish();
rollback;
