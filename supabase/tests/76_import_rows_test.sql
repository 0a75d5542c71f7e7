-- What an import refuses, row by row: the reason names the member, and nothing of the row is
-- written, but the other rows of the batch are.

begin;
select plan(25);

select from public.upsert_projects('[{"key": "AA", "name": "Apples"}]');
select from public.upsert_tickets('[{"key": "AA-1", "project_key": "AA", "name": "Stored", "status": "Fixed", "assignee": "Ann"}]');
-- Imports AA-1 with these members between two good tickets: what became of it, and what is stored.
create function pg_temp.refused(members text) returns text
language plpgsql as $$
declare
  said text;
begin
  select string_agg(concat_ws(' ', u.key, case when u.ticket_id is null then '-' end, u.project_id - u.project_id, u.comment_ids, u.reason), '; ') into said
  from public.upsert_tickets(('[{"key": "AA-2", "project_key": "AA", "name": "Two"}, ' || members || ', {"key": "AA-3", "project_key": "AA", "name": "Three"}]')::jsonb) u;
  if (select count(*) from public.tickets) <> 3 or (select t.name || t.assignee from public.tickets t where t.key = 'AA-1') <> 'StoredAnn'
    or exists (select from public.comments) or exists (select from public.status_changes) or (select count(*) from public.status) <> 2 then
    return 'written: ' || said;
  end if;
  return replace(replace(said, 'AA-2 0 {}; ', ''), '; AA-3 0 {}', '');
end
$$;
create function pg_temp.member(member text) returns text
language sql as $$ select substr(pg_temp.refused('{"key": "AA-1", "project_key": "AA", "name": "New", "status": "Lost", ' || member || '}'), 8) $$;

select is(pg_temp.refused('{"project_key": "AA", "name": "New"}'), '- its key is missing', 'a ticket without a key');
select is(pg_temp.refused('{"key": " ", "project_key": "AA", "name": "New"}'), '- its key is missing', 'a blank one');
select is(pg_temp.refused(format('{"key": "%s", "project_key": "AA", "name": "New"}', repeat('x', 256))), repeat('x', 255) || ' - its key has 256 characters, more than 255', 'a long one');
select is(pg_temp.refused('{"key": "AA\u0007-1", "project_key": "AA", "name": "New"}'), e'AA\x07-1 - its key has a control character', 'one with a control character');
select is(pg_temp.refused('{"key": 1, "project_key": "AA", "name": "New"}'), '1 - its key is a JSON number, not a text', 'one that is a number');
select is(pg_temp.refused('{"key": "AA-1", "project_key": "ZZ", "name": "New"}'), 'AA-1 - there is no project ZZ', 'an unknown project');
select is(pg_temp.refused('{"key": "AA-1", "name": "New"}'), 'AA-1 - its project_key is missing', 'no project');
select is(pg_temp.refused('{"key": "AA-1", "project_key": "AA"}'), 'AA-1 - its name is missing', 'no name');
select is(pg_temp.refused('{"key": "AA-1", "project_key": "AA", "name": "  "}'), 'AA-1 - its name is missing', 'a blank name');
select is(pg_temp.refused('"AA-1"'), '- it is a JSON string, not an object', 'a text');
select is(pg_temp.refused('["AA-1"]'), '- it is a JSON array, not an object', 'a list');
select results_eq($$ select v.member, pg_temp.member(v.member) from (values
      ('"status": "' || repeat('x', 101) || '"'), ('"status_category": "open"'), ('"labels": "wet"'), ('"labels": {"a": 1}'), ('"labels": ["wet", ["dry"]]'),
      ('"name": {"a": 1}'), ('"assignee": 5'), ('"description": true'), ('"notes": "x"'), ('"comments": {}'), ('"links": 5'),
      ('"notes": ["x"]'), ('"notes": [{"note": "n", "created_at": "noon"}]'), ('"comments": [{"key": "c", "body": "b", "created_at": "noon"}]'), ('"comments": [{"key": "c", "body": ["b"]}]'),
      ('"links": [{"kind": "likes", "key": "AA-2"}]'), ('"links": [{"key": "AA-2"}]'), ('"links": [{"kind": "blocks"}]')) v(member) $$,
  $$ values ('"status": "' || repeat('x', 101) || '"', 'its status has 101 characters, more than 100'),
    ('"status_category": "open"', 'its status_category is open: use to_do, in_progress or done'),
    ('"labels": "wet"', 'its labels is a JSON string, not a list'), ('"labels": {"a": 1}', 'its labels is a JSON object, not a list'), ('"labels": ["wet", ["dry"]]', 'its labels are not all texts'),
    ('"name": {"a": 1}', 'its name is a JSON object, not a text'), ('"assignee": 5', 'its assignee is a JSON number, not a text'), ('"description": true', 'its description is a JSON boolean, not a text'),
    ('"notes": "x"', 'its notes are a JSON string, not a list'), ('"comments": {}', 'its comments are a JSON object, not a list'), ('"links": 5', 'its links are a JSON number, not a list'),
    ('"notes": ["x"]', 'in its notes: it is a JSON string, not an object'),
    ('"notes": [{"note": "n", "created_at": "noon"}]', 'in its notes: its created_at is noon, not a time of the years 1 to 9999, such as 2026-03-04T09:12:00Z'),
    ('"comments": [{"key": "c", "body": "b", "created_at": "noon"}]', 'in its comments: its created_at is noon, not a time of the years 1 to 9999, such as 2026-03-04T09:12:00Z'),
    ('"comments": [{"key": "c", "body": ["b"]}]', 'in its comments: its body is a JSON array, not a text'),
    ('"links": [{"kind": "likes", "key": "AA-2"}]', 'in its links: the kind of a link is likes: use duplicates, blocks, relates_to or child_of'),
    ('"links": [{"key": "AA-2"}]', 'in its links: the kind of a link is missing: use duplicates, blocks, relates_to or child_of'),
    ('"links": [{"kind": "blocks"}]', 'in its links: its key is missing') $$, 'members that are not what they should be');

-- Times are those of ISO 8601: nothing is guessed.
select is_empty($$ select t from unnest(array['soon', 'now', 'today', 'infinity', '-infinity', '3/4/25', '04.03.2025', 'May 5 2025', '2025-13-01', '2025-02-29', '2025-04-31', '2025-01-01T25:00:00Z', '2025-01-01 10',
      '0000-01-01', '12026-01-01', '0044-03-15 BC', '2025-01-01T10:00:00+16:00', '1741079520', '20250304']) t
    cross join unnest('{created_at,updated_at,resolved_at,due_date}'::text[]) m
    where pg_temp.member(format('"%s": "%s"', m, t)) <> format('its %s is %s, not a time of the years 1 to 9999, such as 2026-03-04T09:12:00Z', m, t) $$, 'what is no time');
select is(pg_temp.member('"updated_at": "0001-01-01T00:00:00+14:00"') ~ '"tickets_updated_at_in_years_1_to_9999"', true, 'one that is before the year 1 in UTC');
select is_empty($$ select u from unnest(array['acme.example', 'javascript:alert(1)', 'https://ada:secret@acme.example/7', 'https://acme.example/' || repeat('7', 980)]) u
    where pg_temp.member(format('"url": "%s"', u)) <> 'its url is no address of a page: use http or https, at most 1,000 characters, and no credentials' $$, 'an address that is none, without what it holds');
-- What nobody foresaw.
alter table public.tickets add column flavour integer, add constraint short_names check (length(name) < 20);
select is(pg_temp.member('"name": "A name of many words"'), 'new row for relation "tickets" violates check constraint "short_names"', 'what a constraint of the adopter refuses');
select is(pg_temp.member('"flavour": "salty"'), 'invalid input syntax for type integer: "salty"', 'or the type of a column of theirs');
alter table public.tickets drop column flavour, drop constraint short_names;

-- What is written ---------------------------------------------------------------------------------

select from public.upsert_tickets('[{"key": "AA-1", "project_key": "AA", "name": "New", "due_date": "2024-02-29", "created_at": "2025-03-04", "resolved_at": "2025-03-04 09:12+01", "updated_at": "2025-03-04T09:12:00.123456-0330"}]');
select is((select concat_ws(' ', due_date, resolved_at at time zone 'UTC', updated_at at time zone 'UTC') from public.tickets where key = 'AA-1'), '2024-02-29 2025-03-04 08:12:00 2025-03-04 12:42:00.123456', 'times in all forms of ISO 8601');
create temporary table cut as select u.cut from public.upsert_tickets(jsonb_build_array(jsonb_build_object('key', 'AA-1', 'project_key', 'AA', 'name', repeat('n', 999) || repeat(' ', 9), 'assignee', repeat('a', 1001), 'reporter', repeat('r', 1000),
  'labels', array['wet', repeat('l', 1001)], 'comments', array[jsonb_build_object('key', 'c1', 'body', repeat('b', 5000), 'author', repeat('c', 1001))]))) u;
select results_eq($$ select u.cut, length(t.name), length(t.assignee), length(t.labels[2]), length(c.author), length(c.body) from cut u, public.tickets t join public.comments c using (ticket_id) where t.key = 'AA-1' $$,
  $$ values ('assignee, labels, name, comments.author', 1000, 1000, 1000, 1000, 5000) $$, 'long names are cut and named, texts are not');
create function pg_temp.page(members text) returns text
language sql as $$
  select from public.upsert_tickets(('[{"key": "AA-1", "project_key": "AA", "name": "New", ' || members || '}]')::jsonb);
  select concat_ws(' ', t.source_id, t.url) from public.tickets t where t.key = 'AA-1'
$$;
select results_eq($$ select pg_temp.page(m) from unnest(array['"source_id": "10023", "url": "https://acme.example/browse/AA-1"', '"priority": "High"', '"url": ""', '"source_id": null']) m $$,
  array['10023 https://acme.example/browse/AA-1', '10023 https://acme.example/browse/AA-1', '10023', ''], 'its id and page in the tracker are kept, and cleared');
select results_eq($$ select u.key, u.ticket_id is not null, u.reason from public.upsert_tickets('[{"key": "AA-4", "project_key": "AA", "name": "Good"}, {"key": "aa-4", "project_key": "AA", "name": "Bad", "due_date": "soon"}]') u $$,
  $$ values ('AA-4', true, null), ('aa-4', false, 'its due_date is soon, not a time of the years 1 to 9999, such as 2026-03-04T09:12:00Z') $$, 'a refused row does not cost the one before with its key');
select is((select t.name || ' ' || s.name from public.tickets t join public.status s using (status_id) where t.key = 'AA-4'), 'Good To Do', 'which is stored, to do if nothing else is said');

-- Projects ----------------------------------------------------------------------------------------

select results_eq($$ select p.key, p.project_id is null, p.reason, p.cut from public.upsert_projects(jsonb_build_array('{"key": "BB", "name": "Bananas"}'::jsonb, '{"key": "CC"}'::jsonb, '{"name": "No key"}'::jsonb, '{"key": "DD", "name": "D", "language": "klingon"}'::jsonb, 5,
      '{"key": "EE", "name": "E", "description": ["x"]}'::jsonb, jsonb_build_object('key', 'FF', 'name', repeat('f', 1001)))) p $$,
  $$ values ('BB', false, null, null), ('CC', true, 'its name is missing', null), (null, true, 'its key is missing', null), ('DD', true, 'its language is klingon, which Postgres does not have', null),
    (null, true, 'it is a JSON number, not an object', null), ('EE', true, 'its description is a JSON array, not a text', null), ('FF', false, null, 'name') $$, 'a bad project costs only itself');
select is((select string_agg(key, ',' order by key) from public.projects), 'AA,BB,FF', 'the others are stored');
select throws_ok($$ select public.upsert_tickets('{"key": "AA-9"}') $$, '22023', 'tickets is a JSON object, not a list', 'an argument that is no list is an error');

select * from finish();
rollback;
