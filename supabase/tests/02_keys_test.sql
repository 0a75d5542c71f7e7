-- Generated keys of projects and tickets.

begin;
select plan(25);
set local role service_role;

insert into public.status (status_id, name) values (1, 'To Do');

-- Projects ----------------------------------------------------------------------------------------

-- The key of a new project with this name.
create function pg_temp.project_key(name text, key text default null) returns text
language sql as $$ insert into public.projects (name, key) values (name, key) returning projects.key $$;

select is(pg_temp.project_key('Tasks and Xrays'), 'TAX', 'the key of a new project is the initials of its name');
select is(pg_temp.project_key('Tasks and Xrays'), 'TAX2', 'a second project of the same name gets a number in its key');
select is(pg_temp.project_key('Tasks, and: Xrays!'), 'TAX3', 'punctuation in a project name is ignored, and the number in the key is incremented');
select is(pg_temp.project_key('one two three four five six'), 'OTTFF', 'a project key has at most five initials');
select is(pg_temp.project_key('2nd phase'), '2P', 'a project key may start with a digit of the name');
select is(pg_temp.project_key('Ärger im Büro'), 'IB', 'initials outside A to Z are skipped');
select is(pg_temp.project_key('数据 平台'), 'P', 'a name without Latin letters gives P');
select is(pg_temp.project_key('!?'), 'P2', 'a project name of punctuation gives P with a number');
select is(pg_temp.project_key(''), 'P3', 'an empty project name gives P with a number');
select is(pg_temp.project_key('Whatever', ''), 'W', 'an empty project key is replaced by a generated one');
select is(pg_temp.project_key('Whatever', ' '), 'W2', 'a blank project key is replaced by a generated one');
select is(pg_temp.project_key('Whatever', 'Kept-as_it is'), 'Kept-as_it is', 'a given project key is kept');
select throws_ok($$ insert into public.projects (name, key) values ('x', 'TAX') $$, '23505', null, 'a duplicate project key is rejected');

insert into public.projects (name) select 'Bulk load' from generate_series(1, 3);
select results_eq(
  $$ select key from public.projects where name = 'Bulk load' order by project_id $$,
  array['BL', 'BL2', 'BL3'], 'projects inserted by one statement get different keys');

-- Tickets -----------------------------------------------------------------------------------------

insert into public.projects (project_id, key, name) values (9000001, 'TX', 'Tasks'), (9000002, 'tx', 'In small letters'), (9000003, 'MIX', 'Mixed');

create function pg_temp.ticket_key(project_id bigint, key text default null) returns text
language sql as $$ insert into public.tickets (project_id, status_id, name, key) values (project_id, 1, 'a ticket', key) returning tickets.key $$;

select is(pg_temp.ticket_key(9000003, 'MIX-400'), 'MIX-400', 'a given ticket key is kept');
select is(pg_temp.ticket_key(9000003), 'MIX-401', 'the first generated number follows the highest imported one');

select results_eq(
  $$ select pg_temp.ticket_key(9000001) union all select pg_temp.ticket_key(9000001, '') union all select pg_temp.ticket_key(9000001, ' ') $$,
  array['TX-1', 'TX-2', 'TX-3'], 'a ticket without a key or with a blank one gets the next key of its project');

select pg_temp.ticket_key(9000001, 'tx-4'), pg_temp.ticket_key(9000001, 'TX-20'), pg_temp.ticket_key(9000001, 'TX-big'),
  pg_temp.ticket_key(9000001, 'TX-99999999999999999999');
select is(pg_temp.ticket_key(9000001), 'TX-21', 'if the next number is taken by a key in any case, the counter continues after the highest number');
select is(pg_temp.ticket_key(9000001), 'TX-22', 'the counter continues after it has skipped taken numbers');

select is(pg_temp.ticket_key(9000002), 'tx-23', 'projects whose keys differ only by case share one sequence of ticket numbers');
select throws_ok($$ select pg_temp.ticket_key(9000002, 'Tx-1') $$, '23505', null, 'a ticket key that differs only by case from another is rejected');

delete from public.tickets where key = 'TX-22';
select is(pg_temp.ticket_key(9000001), 'TX-24', 'the key of a deleted ticket is not reused');

insert into public.tickets (project_id, status_id, name, key)
values (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', 'TX-26'), (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', null);
select results_eq(
  $$ select key from public.tickets where name = 'bulk' order by ticket_id $$,
  array['TX-25', 'TX-26', 'TX-27', 'TX-28'], 'tickets inserted by one statement get different keys and skip the given ones');

-- The plans of the trigger's queries were cached above, while the table was almost empty.
insert into public.tickets (project_id, status_id, name) select 9000003, 1, 'many' from generate_series(1, 300);
select cmp_ok(pg_stat_get_xact_tuples_returned('public.tickets_key_key'::regclass), '<', 3000::bigint,
  'numbering a ticket does not read all other keys');

select throws_ok($$ select pg_temp.ticket_key(404) $$, '23503', null, 'a ticket of an unknown project violates the foreign key');

select * from finish();
rollback;
