-- The queue of changes of own tables: an entry a row, for what views show; what hides a row goes
-- first; and what has no copy is counted. Copying reads no more of a row for there being others.

begin;
select plan(26);

create schema desk;
create table desk.queues (id integer primary key, prefix text, title text);
create table desk.agents (id integer primary key, name text, account uuid default gen_random_uuid(), seen_at timestamptz, blocked boolean default false);
create table desk.seats (queue integer, agent integer);
create table desk.cases (id integer primary key, ref text, queue integer, subject text, views integer default 0, gone boolean default false);
create table desk.notes (id integer primary key, case_id integer, author integer, body text, internal boolean default false, read_at timestamptz);
create schema shown;
create view shown.projects as select id as project_id, prefix as key, title as name from desk.queues;
create view shown.members as select s.queue as project_id, a.account as user_id, s.agent from desk.seats s join desk.agents a on a.id = s.agent;
create view shown.tickets as select nullif(c.ref, '') as ticket_id, c.queue as project_id, c.subject as name from desk.cases c where not c.gone;
create view shown.notes as select n.*, a.name as wrote from desk.notes n join desk.agents a on a.id = n.author where not n.internal and not a.blocked;
create view shown.comments as select n.id as comment_id, c.ref as ticket_id, n.wrote as author, n.body, n.author as author_id from shown.notes n join desk.cases c on c.id = n.case_id where not c.gone;
insert into desk.queues values (1, 'ONE', 'One'), (2, 'TWO', 'Two');
insert into desk.agents select n, 'Agent ' || n from generate_series(1, 3) n;
insert into desk.seats values (1, 1), (1, 2), (2, 3);
insert into desk.cases select n, 'c' || n, 1 + n % 2, 'Case ' || n from generate_series(1, 300) n;
create function pg_temp.attach() returns void
language sql as $$ select from public.attach_tables('{
  "projects": {"view": "shown.projects", "tables": {"desk.queues": {"id": "project_id"}}},
  "members": {"view": "shown.members", "tables": {"desk.seats": {"queue": "project_id"}, "desk.agents": {"id": "agent"}}},
  "tickets": {"view": "shown.tickets", "tables": {"desk.cases": {"ref": "ticket_id"}}},
  "comments": {"view": "shown.comments", "tables": {"desk.notes": {"id": "comment_id"}, "desk.agents": {"id": "author_id"}, "desk.cases": {"ref": "ticket_id"}}}}') $$;
create function pg_temp.settle() returns text
language plpgsql as $$
begin
  for i in 1..100 loop
    if public.copy_changes() = 0 then
      return (select string_agg(r.kind || ' ' || r.key || ': ' || r.reason, '; ' order by r.kind, r.key) from tasklens.attached_rows r where r.refused_at is not null);
    end if;
  end loop;
  return 'never ends';
end
$$;
-- What a statement queues: by kind, entries of rows and of columns.
create function pg_temp.queues(statement text) returns text
language plpgsql as $$
declare
  queued text;
begin
  perform pg_temp.settle();
  execute statement;
  select string_agg(q.kind || ' ' || q.entries, ', ' order by q.kind) into queued
  from (select c.kind || coalesce(' by ' || c.by_column, '') as kind, count(*) as entries from tasklens.changed_rows c group by 1) q;
  return queued;
end
$$;
select pg_temp.attach();
select pg_temp.settle();

-- The time that copying takes ---------------------------------------------------------------------

-- Plans are cached while there is little.
insert into desk.notes select n, 1 + n % 300, 1 + n % 3, 'Note ' || n from generate_series(1, 3) n;
create function pg_temp.prime() returns void
language plpgsql as $$ begin for i in 1..8 loop update desk.cases set gone = not gone where id = 1; perform pg_temp.settle(); end loop; end $$;
select pg_temp.prime();
insert into desk.notes select n, 1 + n % 300, 1 + n % 3, 'Note ' || n from generate_series(4, 1500) n;
select pg_temp.settle();
-- How often the index is read that finds what belongs to a row.
create function pg_temp.scans(statement text) returns bigint
language plpgsql as $$
declare
  gin constant oid := (select i.indexrelid from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid join pg_catalog.pg_am a on a.oid = c.relam
    where i.indrelid = 'tasklens.attached_rows'::regclass and a.amname = 'gin');
  before constant bigint := pg_catalog.pg_stat_get_xact_numscans(gin);
begin
  execute statement;
  perform pg_temp.settle();
  return pg_catalog.pg_stat_get_xact_numscans(gin) - before;
end
$$;
select is(pg_temp.scans($$ update desk.cases set gone = true $$) between 1 and 20, true, 'what belongs to tickets that go is found by one look at an index for each batch');
select is(pg_temp.scans($$ update desk.cases set gone = false $$) between 1 and 20, true, 'and when they come back');
select is((select count(*) from public.comments), 1500::bigint, 'with all of it');

-- An entry a row ----------------------------------------------------------------------------------

select is(pg_temp.queues($$ update desk.notes set body = body || '.' $$), 'comments 1500', 'an update queues a row once');
select is(pg_temp.queues($$ update desk.cases set subject = subject || '.' $$), 'tickets 300', 'only for the views that show what changed');
select is(pg_temp.queues($$ update desk.cases set views = views + 1 $$), null, 'for a column that no view shows nothing');
select is(pg_temp.queues($$ update desk.agents set seen_at = now() $$), null, 'nor by a column of another table');
select is(pg_temp.queues($$ update desk.cases set subject = subject $$), null, 'nor for an update that changes nothing');
select is(pg_temp.queues($$ update desk.agents set name = name || '.' $$), 'comments by author_id 3', 'a name by the column that finds its rows');
select is(pg_temp.queues($$ update desk.seats set agent = 3 where agent = 1 $$), 'members 1', 'a list once');
select is(pg_temp.queues($$ update desk.cases set ref = 'd' || ref where id = 7 $$), 'comments by ticket_id 2, tickets 2', 'a changed key is two rows');
update desk.cases set ref = 'c7' where id = 7;
select pg_temp.settle();
-- Known and shown, by two columns, and changed itself.
insert into tasklens.changed_rows (kind, by_column, value) values ('comments', 'author_id', '1'), ('comments', 'ticket_id', 'c3'), ('comments', '*', null);
update desk.notes set body = body || '.' where author = 1;
select public.copy_changes(4);
select is((select count(*) filter (where attempts >= 0) = count(distinct value) filter (where attempts >= 0) and count(*) < 2100 from tasklens.changed_rows), true, 'what is found by columns is queued once');
select pg_temp.settle();
-- A view that was replaced, or calls what may read tables, is asked again about every change.
create or replace view shown.tickets as select nullif(c.ref, '') as ticket_id, c.queue as project_id, c.subject || c.views as name from desk.cases c where not c.gone;
select is(pg_temp.queues($$ update desk.cases set views = views + 1 where id = 5 $$), 'tickets 1', 'a view that was replaced may show any column');
create function desk.words(integer) returns text language sql stable as $$ select subject || views from desk.cases where id = $1 $$;
create or replace view shown.tickets as select nullif(c.ref, '') as ticket_id, c.queue as project_id, desk.words(c.id) as name from desk.cases c where not c.gone;
select pg_temp.attach();
select is(pg_temp.queues($$ update desk.cases set views = views + 1 where id = 5 $$), 'tickets 1', 'so may a function');
create or replace view shown.tickets as select nullif(c.ref, '') as ticket_id, c.queue as project_id, to_jsonb(c) ->> 'views' as name from desk.cases c where not c.gone;
select pg_temp.attach();
select is(pg_temp.queues($$ update desk.cases set views = views + 1 where id = 5 $$), 'tickets 1', 'and a whole row');
create or replace view shown.tickets as select nullif(c.ref, '') as ticket_id, c.queue as project_id, c.subject as name from desk.cases c where not c.gone;
select pg_temp.attach();
select pg_temp.settle();

-- What hides rows goes first ----------------------------------------------------------------------

update desk.notes set body = body || '!';
select public.copy_changes(200);
update desk.notes set internal = true where id = 1500;
delete from desk.notes where id = 1499;
update desk.notes set case_id = 2 where id = 1497;
update desk.cases set gone = true where id = 300;
delete from desk.seats where agent = 2;
update desk.agents set blocked = true where id = 3;
select public.copy_changes(200) from generate_series(1, 3);
create function pg_temp.copied(ids integer[]) returns text
language sql as $$ select string_agg(m.key || ' of ' || (select t.key from tasklens.attached_rows t where t.kind = 'tickets' and t.id = c.ticket_id), ', ' order by m.key::integer)
  from tasklens.attached_rows m join public.comments c on c.comment_id = m.id where m.kind = 'comments' and m.key = any (ids::text[]) $$;
select is(pg_temp.copied('{1496,1497,1498,1499,1500}'), '1497 of c2, 1498 of c299', 'what was hidden or deleted is gone, what moved has moved');
select is((select count(*) from public.tickets t join tasklens.attached_rows m on m.kind = 'tickets' and m.id = t.ticket_id where m.key = 'c300'), 0::bigint, 'a ticket too');
select is((select count(*) from public.project_members), 2::bigint, 'and a member');
select cmp_ok((select count(*) from tasklens.changed_rows), '>', 700::bigint, 'ahead of what waits');
select pg_temp.settle();
select is((select count(*) from public.comments), (select count(*) from shown.comments join shown.tickets using (ticket_id)), 'at rest all is as shown');

-- What has no copy is counted ---------------------------------------------------------------------

create function pg_temp.refused() returns text
language sql as $$ select pg_temp.settle(); select s.refused_rows || coalesce(' ' || (select string_agg(c.finding, '; ') from public.check_installation('m') c where c.subject = 'own tables'), '') from public.embedding_status('m') s $$;
update desk.cases set ref = '' where id in (10, 11, 12);
select is(pg_temp.settle(), 'tickets *null: the view shown.tickets shows 3 rows without ticket_id', 'rows whose key turns null are named');
select is(pg_temp.refused(), '3 3 rows cannot be copied as they are', 'and counted');
insert into desk.cases (id, ref, queue, subject) values (1000, null, 1, 'Never had one');
select is(pg_temp.refused(), '4 4 rows cannot be copied as they are', 'so is a new one');
update desk.cases set ref = 'c' || id where ref is null or ref = '';
select is(pg_temp.refused(), '0', 'until they have a key');
update desk.queues set prefix = 'ONE' where id = 2;
select is(pg_temp.refused(), format('%1$s %1$s rows cannot be copied as they are', 1 + (select count(*) from shown.tickets where project_id = 2) + (select count(*) from shown.comments join shown.tickets using (ticket_id) where project_id = 2)),
  'a taken key counts the tickets and comments that it hides');
update desk.queues set prefix = 'TWO' where id = 2;
select is(pg_temp.refused(), '0', 'which come back with a free one');

select * from finish();
rollback;
