-- Generated keys of projects and tickets.

begin;
select plan(25);
set local role service_role;

insert into public.status (status_id, name) values (1, 'To Do');

-- Projects ----------------------------------------------------------------------------------------

-- The key of a new project with this name.
create function pg_temp.project_key(name text, key text default null) returns text
language sql as $$ insert into public.projects (name, key) values (name, key) returning projects.key $$;

select is(pg_temp.project_key('Tasks and Xrays'), 'TAX', 'a project gets the initials of its name');
select is(pg_temp.project_key('Tasks and Xrays'), 'TAX2', 'a second one of that name gets a number');
select is(pg_temp.project_key('Tasks, and: Xrays!'), 'TAX3', 'and so on; marks are no words');
select is(pg_temp.project_key('one two three four five six'), 'OTTFF', 'at most five initials count');
select is(pg_temp.project_key('2nd phase'), '2P', 'digits count');
select is(pg_temp.project_key('Ärger im Büro'), 'IB', 'a letter outside A to Z is passed over');
select is(pg_temp.project_key('数据 平台'), 'P', 'a name without Latin letters gives P');
select is(pg_temp.project_key('!?'), 'P2', 'and so does one of marks');
select is(pg_temp.project_key(''), 'P3', 'and an empty one');
select is(pg_temp.project_key('Whatever', ''), 'W', 'an empty key is no key');
select is(pg_temp.project_key('Whatever', ' '), 'W2', 'nor is a blank one');
select is(pg_temp.project_key('Whatever', 'Kept-as_it is'), 'Kept-as_it is', 'a given key is kept');
select throws_ok($$ insert into public.projects (name, key) values ('x', 'TAX') $$, '23505', null, 'a key belongs to one project');

insert into public.projects (name) select 'Bulk load' from generate_series(1, 3);
select results_eq(
  $$ select key from public.projects where name = 'Bulk load' order by project_id $$,
  array['BL', 'BL2', 'BL3'], 'the rows of one statement get different keys');

-- Tickets -----------------------------------------------------------------------------------------

insert into public.projects (project_id, key, name) values (9000001, 'TX', 'Tasks'), (9000002, 'tx', 'In small letters'), (9000003, 'MIX', 'Mixed');

create function pg_temp.ticket_key(project_id bigint, key text default null) returns text
language sql as $$ insert into public.tickets (project_id, status_id, name, key) values (project_id, 1, 'a ticket', key) returning tickets.key $$;

select is(pg_temp.ticket_key(9000003, 'MIX-400'), 'MIX-400', 'a given key is kept');
select is(pg_temp.ticket_key(9000003), 'MIX-401', 'the first number given out follows the highest one that was imported');

select results_eq(
  $$ select pg_temp.ticket_key(9000001) union all select pg_temp.ticket_key(9000001, '') union all select pg_temp.ticket_key(9000001, ' ') $$,
  array['TX-1', 'TX-2', 'TX-3'], 'a ticket without a key, or with a blank one, gets the next of its project');

select pg_temp.ticket_key(9000001, 'tx-4'), pg_temp.ticket_key(9000001, 'TX-20'), pg_temp.ticket_key(9000001, 'TX-big'),
  pg_temp.ticket_key(9000001, 'TX-99999999999999999999');
select is(pg_temp.ticket_key(9000001), 'TX-21', 'a number that is taken, in whatever case, makes the counter jump behind the highest');
select is(pg_temp.ticket_key(9000001), 'TX-22', 'and go on from there');

select is(pg_temp.ticket_key(9000002), 'tx-23', 'keys of two projects that differ by case only never meet');
select throws_ok($$ select pg_temp.ticket_key(9000002, 'Tx-1') $$, '23505', null, 'a key belongs to one ticket regardless of case');

delete from public.tickets where key = 'TX-22';
select is(pg_temp.ticket_key(9000001), 'TX-24', 'the key of a deleted ticket is not given out again');

insert into public.tickets (project_id, status_id, name, key)
values (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', 'TX-26'), (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', null);
select results_eq(
  $$ select key from public.tickets where name = 'bulk' order by ticket_id $$,
  array['TX-25', 'TX-26', 'TX-27', 'TX-28'], 'the rows of one statement get different keys, between the given ones');

-- The first of these were numbered, and the plan cached, while the table was empty.
insert into public.tickets (project_id, status_id, name) select 9000003, 1, 'many' from generate_series(1, 300);
select cmp_ok(pg_stat_get_xact_tuples_returned('public.tickets_key_key'::regclass), '<', 3000::bigint,
  'to number a ticket not all others are read');

select throws_ok($$ select pg_temp.ticket_key(404) $$, '23503', null, 'a ticket of no project is refused by its foreign key');

select * from finish();
rollback;
