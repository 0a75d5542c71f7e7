-- The stored values that a name in a filter can mean.

begin;
select plan(18);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'In Progress'), (3, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Anchors'), (2, 'BB', 'Wheels');
\ir kit/actors.sql
insert into public.tickets (ticket_id, project_id, status_id, key, name, assignee, ticket_type, labels) values
  (901, 1, 1, 'AA-901', 'one', 'Gary Mathews', 'Bug', '{payments,Third Party}'), (902, 1, 1, 'AA-902', 'two', 'gary mathews', 'bug', '{}'),
  (903, 2, 1, 'BB-903', 'three', 'Gary Hidden', 'Hidden type', '{hidden}'), (904, 1, 1, 'AA-904', 'four', 'Ada Lovelace', 'Task', '{}');
select pg_temp.act('service');
create function pg_temp.found(filters jsonb, close boolean default true) returns text
language sql as $$
  select string_agg(concat_ws(' ', f.member, f.spelling, case when f.exact then '=' else '~' end, coalesce(f.value, '?')), ', ')
  from public.find_filter_values(found.filters, found.close) f
$$;

select is(pg_temp.found(f::jsonb), w, f) from (values
  ('{"statuses": ["to do"]}', 'statuses to do = To Do'), ('{"statuses": "progres"}', 'statuses progres ~ In Progress'),
  ('{"assignee": ["gmathews", "me", null]}', 'assignee gmathews ~ Gary Mathews'), ('{"types": ["BUG"]}', 'types BUG = Bug'),
  ('{"labels": {"all": ["third party"]}, "not": {"labels": ["payment"]}}', 'labels third party = Third Party, labels payment ~ payments'),
  ('{"projects": [1, "zzz"]}', 'projects zzz ~ ?'), ('[{"types": "bug"}, {"statuses": "done"}]', 'statuses done = Done, types bug = Bug'),
  ('{"keys": ["aa-901", "aa-999", "ZZ-1", "utf-8"]}', 'keys aa-901 = AA-901, keys aa-999 ~ ?'), ('{}', null), ('null', null)) x(f, w);
select is(pg_temp.found('{"assignee": "gary", "types": "bug"}', false), 'types bug = Bug', 'without close, only stored names are returned');
select is(pg_temp.found('{"assignee": "gary"}'), 'assignee gary ~ Gary Hidden, assignee gary ~ Gary Mathews', 'all that resemble it equally are returned');
select pg_temp.act('viewer');
select is(pg_temp.found('{"assignee": "gary", "types": "hidden type", "labels": "hidden", "keys": ["BB-903", "BB-999"]}'),
  'assignee gary ~ Gary Mathews, labels hidden ~ ?, types hidden type ~ ?', 'what the caller may not see is not there');
select is(pg_temp.found('{"projects": ["BB"]}'), 'projects BB ~ ?', 'nor is a project');
select is(concat_ws(' ', count(distinct f.spelling), count(distinct f.spelling) filter (where f.value is not null)), '25 20', 'of the first 20 unknown names resembling values are looked for')
  from public.find_filter_values(jsonb_build_object('types', (select jsonb_agg('bug ' || i) from generate_series(10, 34) i))) f;

-- A word such as UTF-8 is looked up in every search that has one.
reset role;
insert into public.projects (project_id, key, name) values (3, 'CC', 'Came with their keys');
insert into public.tickets (ticket_id, project_id, status_id, key, name) select 1000 + i, 3, 1, 'OLD-' || i, 'five' from generate_series(1, 1000) i;
select pg_temp.act('service');
create function pg_temp.read() returns bigint language sql volatile as $$
  select sum(s.seq_tup_read + s.idx_tup_fetch)::bigint from pg_catalog.pg_stat_xact_user_tables s where s.schemaname = 'public' and s.relname = 'tickets'
$$;
select is(pg_temp.found('{"keys": ["OLD-1001"]}'), 'keys OLD-1001 ~ ?', 'a key is unknown where the tickets of a project begin alike');
create temporary table first as select pg_temp.read() as rows;
select count(*) from public.find_filter_values(jsonb_build_object('types', (select jsonb_agg('kind ' || i) from generate_series(1, 50) i)));
select cmp_ok(pg_temp.read() - f.rows, '<=', 2 * (select count(*) from public.tickets), 'tickets are read twice for any number of names, not for each of them') from first f;
set local enable_seqscan = off; -- which a small table is read by otherwise
create temporary table before as select pg_temp.read() as rows;
select pg_temp.found('{"keys": ["UTF-8"]}');
select cmp_ok(pg_temp.read() - b.rows, '<=', 3::bigint, 'of each project one ticket is read for a word that may be a key') from before b;
rollback;
