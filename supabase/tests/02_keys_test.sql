-- Generated keys of projects and tickets.

begin;
select plan(25);
set local role service_role;

insert into public.status (status_id, name) values (1, 'To Do');

-- Projects ----------------------------------------------------------------------------------------

-- The key of a new project with this name.
create function pg_temp.project_key(name text, key text default null) returns text
language sql as $$ insert into public.projects (name, key) values (name, key) returning projects.key $$;

select is(pg_temp.project_key('Tasks and Xrays'), 'TAX', 'a project''s key is the initials of its name');
select is(pg_temp.project_key('Tasks and Xrays'), 'TAX2', 'a second project with the same initials gets a number');
select is(pg_temp.project_key('Tasks, and: Xrays!'), 'TAX3', 'punctuation is skipped, and the number counts on');
select is(pg_temp.project_key('one two three four five six'), 'OTTFF', 'a key has at most five initials');
select is(pg_temp.project_key('2nd phase'), '2P', 'digits count as initials');
select is(pg_temp.project_key('Ärger im Büro'), 'IB', 'a letter outside A to Z is skipped');
select is(pg_temp.project_key('数据 平台'), 'P', 'a name without Latin letters gives P');
select is(pg_temp.project_key('!?'), 'P2', 'a name of punctuation gives P');
select is(pg_temp.project_key(''), 'P3', 'an empty name gives P');
select is(pg_temp.project_key('Whatever', ''), 'W', 'an empty key is replaced by a generated one');
select is(pg_temp.project_key('Whatever', ' '), 'W2', 'a blank key is replaced by a generated one');
select is(pg_temp.project_key('Whatever', 'Kept-as_it is'), 'Kept-as_it is', 'a given key is kept');
select throws_ok($$ insert into public.projects (name, key) values ('x', 'TAX') $$, '23505', null, 'a project''s key is unique');

insert into public.projects (name) select 'Bulk load' from generate_series(1, 3);
select results_eq(
  $$ select key from public.projects where name = 'Bulk load' order by project_id $$,
  array['BL', 'BL2', 'BL3'], 'the rows of one statement get different keys');

-- Tickets -----------------------------------------------------------------------------------------

insert into public.projects (project_id, key, name) values (9000001, 'TX', 'Tasks'), (9000002, 'tx', 'In small letters'), (9000003, 'MIX', 'Mixed');

create function pg_temp.ticket_key(project_id bigint, key text default null) returns text
language sql as $$ insert into public.tickets (project_id, status_id, name, key) values (project_id, 1, 'a ticket', key) returning tickets.key $$;

select is(pg_temp.ticket_key(9000003, 'MIX-400'), 'MIX-400', 'a given key is kept');
select is(pg_temp.ticket_key(9000003), 'MIX-401', 'the first generated number follows the highest imported one');

select results_eq(
  $$ select pg_temp.ticket_key(9000001) union all select pg_temp.ticket_key(9000001, '') union all select pg_temp.ticket_key(9000001, ' ') $$,
  array['TX-1', 'TX-2', 'TX-3'], 'a ticket without a key, or with a blank one, gets its project''s next number');

select pg_temp.ticket_key(9000001, 'tx-4'), pg_temp.ticket_key(9000001, 'TX-20'), pg_temp.ticket_key(9000001, 'TX-big'),
  pg_temp.ticket_key(9000001, 'TX-99999999999999999999');
select is(pg_temp.ticket_key(9000001), 'TX-21', 'a number that is taken, in any case, moves the counter behind the highest');
select is(pg_temp.ticket_key(9000001), 'TX-22', 'the counter continues from there');

select is(pg_temp.ticket_key(9000002), 'tx-23', 'keys of two projects that differ only by case get different numbers');
select throws_ok($$ select pg_temp.ticket_key(9000002, 'Tx-1') $$, '23505', null, 'a key belongs to one ticket regardless of case');

delete from public.tickets where key = 'TX-22';
select is(pg_temp.ticket_key(9000001), 'TX-24', 'a deleted ticket''s key is not reused');

insert into public.tickets (project_id, status_id, name, key)
values (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', 'TX-26'), (9000001, 1, 'bulk', null), (9000001, 1, 'bulk', null);
select results_eq(
  $$ select key from public.tickets where name = 'bulk' order by ticket_id $$,
  array['TX-25', 'TX-26', 'TX-27', 'TX-28'], 'the rows of one statement get different keys, around the given ones');

-- The first of these were numbered, and the plan cached, while the table was empty.
insert into public.tickets (project_id, status_id, name) select 9000003, 1, 'many' from generate_series(1, 300);
select cmp_ok(pg_stat_get_xact_tuples_returned('public.tickets_key_key'::regclass), '<', 3000::bigint,
  'numbering a ticket does not read all tickets');

select throws_ok($$ select pg_temp.ticket_key(404) $$, '23503', null, 'a ticket of an unknown project violates its foreign key');

select * from finish();
rollback;
