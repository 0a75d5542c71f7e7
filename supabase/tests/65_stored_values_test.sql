-- What no writer may store: names that make responses endless, and times that JSON cannot hold.

begin;
select plan(9);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', repeat('ä', 1000)), (2, 'BB', 'Wheels');
insert into public.tickets (ticket_id, key, project_id, status_id, name, assignee, reporter, ticket_type, priority, labels, due_date, created_at)
values (11, 'AA-11', 1, 1, repeat('n', 1000), repeat('a', 1000), repeat('r', 1000), repeat('t', 1000), repeat('p', 1000), array[repeat('l', 1000), 'wet'],
  '9999-12-31', '9999-12-31 23:59:59.999999Z');
insert into public.comments (comment_id, ticket_id, author, body) values (111, 11, repeat('c', 1000), 'Sealed');
insert into public.status_changes (ticket_id, status_id, note, created_at) values (11, 1, 'Sealed', '0001-01-01Z');
insert into public.documents (id, title, keywords, named_entities)
values ('00000000-0000-4000-8000-000000000001', 'Document', array[repeat('k', 1000)], jsonb_build_array(jsonb_build_object('name', repeat('e', 1000))));
\ir kit/actors.sql

-- The constraint that refuses a value, for the service and for an admin of the project.
create function pg_temp.refused(on_table text, name text, value text) returns text
language plpgsql as $$
declare
  found text;
begin
  execute format('update public.%I set %I = %L', on_table, name, value);
  return 'stored';
exception when check_violation then
  get stacked diagnostics found = constraint_name;
  return found;
end
$$;

select results_eq(
  $$ select on_table, name, pg_temp.refused(on_table, name, repeat('x', 1001)) from (values ('projects', 'name'), ('tickets', 'name'), ('tickets', 'assignee'),
      ('tickets', 'reporter'), ('tickets', 'ticket_type'), ('tickets', 'priority'), ('tickets', 'source_id'), ('comments', 'author')) v(on_table, name) $$,
  $$ select v.*, concat_ws('_', on_table, name, 'at_most_1000_characters') from (values ('projects', 'name'), ('tickets', 'name'), ('tickets', 'assignee'),
      ('tickets', 'reporter'), ('tickets', 'ticket_type'), ('tickets', 'priority'), ('tickets', 'source_id'), ('comments', 'author')) v(on_table, name) $$,
  'a name has at most 1,000 characters, and the error names its column');
select results_eq(
  $$ select pg_temp.refused(v.on_table, v.name, v.value) from (values
      ('tickets', 'labels', array['wet', repeat('x', 1001)]::text), ('tickets', 'labels', array(select 'label ' || i from generate_series(1, 5000) i)::text),
      ('documents', 'keywords', array[repeat('x', 1001)]::text), ('documents', 'keywords', array_fill('x'::text, array[20000])::text),
      ('documents', 'named_entities', jsonb_build_array(jsonb_build_object('name', repeat('x', 1001)))::text),
      ('documents', 'named_entities', jsonb_build_array(jsonb_build_object('name', 'x', 'more', jsonb_build_array(repeat('x', 1001))))::text)) v(on_table, name, value) $$,
  $$ select c || '_at_most_1000_characters_50000_in_all' from unnest('{tickets_labels,tickets_labels,documents_keywords,documents_keywords,documents_named_entities,documents_named_entities}'::text[]) c $$,
  'a list of names is bounded, each and together');
select is(pg_temp.refused('documents', 'content', repeat('x', 4194305)), 'documents_content_at_most_4194304_characters', 'a document has at most as many characters as a file of notes');

-- The page of a ticket, which people open.
select is_empty($$ select u from unnest(array['https://acme.example/browse/PUMPS-7', 'HTTP://localhost:8080', 'https://[::1]/a?b=c@d#e@f', 'https://acme.example?x']) u
    where pg_temp.refused('tickets', 'url', u) <> 'stored' $$, 'a ticket has the address of a page');
select is_empty($$ select u from unnest(array['', 'acme.example/7', 'ftp://acme.example', 'javascript:alert(1)', ' https://acme.example', 'https://', 'https:///7', 'https://ada:secret@acme.example/7',
      'https://token@acme.example', 'https://acme.example\@evil.example', E'https://acme.example/\n7', E'java\tscript:alert(1)', 'https://acme.example/a b', 'https://acme.example/' || repeat('7', 980)]) u
    where pg_temp.refused('tickets', 'url', u) <> 'tickets_url_http_at_most_1000_characters' $$, 'of nothing else, without credentials');

-- Each column of a time, whatever tables there are.
create temporary table moments as
select t.name::text as on_table, a.attname::text as name, a.atttypid = 'date'::regtype as is_date
from (values ('projects'), ('tickets'), ('status_changes'), ('comments'), ('ticket_links'), ('documents'), ('chunks')) t(name)
join pg_attribute a on a.attrelid = ('public.' || t.name)::regclass and a.atttypid in ('timestamptz'::regtype, 'date'::regtype);
select is_empty(
  $$ select c.oid::regclass, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.atttypid in ('timestamptz'::regtype, 'date'::regtype, 'timestamp'::regtype)
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not exists (
      select from pg_constraint x where x.conrelid = c.oid and x.conname = concat_ws('_', c.relname, a.attname, 'in_years_1_to_9999')) $$,
  'every time of a public table is one that JSON can hold');
insert into public.tickets (ticket_id, key, project_id, status_id, name) values (21, 'BB-21', 2, 1, 'Wheel');
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'blocks', 21);
select is_empty(
  $$ select m.on_table, m.name, v.value from moments m, unnest(array['infinity', '-infinity', '12026-01-01Z', '10000-01-01 00:00Z', '0044-03-15Z BC']) v(value)
    where m.on_table <> 'chunks' and pg_temp.refused(m.on_table, m.name, v.value) <> concat_ws('_', m.on_table, m.name, 'in_years_1_to_9999') $$,
  'a time without end, or of another age, is refused by a constraint that names its column');

select is((select jsonb_agg(x) from (select pg_temp.act('member')) a, lateral (select t.fields -> 'created_at' as created_at, t.fields -> 'due_date' as due_date, length(t.fields ->> 'assignee') from public.get_ticket(11) t) x),
  '[{"length": 1000, "due_date": "9999-12-31", "created_at": "9999-12-31T23:59:59.999999+00:00"}]', 'what is within the bounds is read as it is');
reset role;
select is(pg_temp.outcomes($$ update tickets set assignee = repeat('x', 1001) where ticket_id = 11 $$), '- 0 0 0 23514 23514 23514', 'every writer is refused');

select * from finish();
rollback;
