-- Imports of people, types, labels, dates, comments and links; that repeated imports write nothing.

begin;
select plan(21);

-- A row that is written, even without a change, gets another ctid.
create temporary table places (id text, place tid);
create function pg_temp.rows() returns table (id text, place tid)
language sql as $$
  select 'project ' || key, ctid from public.projects
  union all select 'status ' || name, ctid from public.status
  union all select 'ticket ' || key, ctid from public.tickets
  union all select 'note ' || status_change_id, ctid from public.status_changes
  union all select 'comment ' || comment_id, ctid from public.comments
  union all select concat_ws(' ', 'link', ticket_id, kind, other_ticket_id), ctid from public.ticket_links
$$;
create function pg_temp.written() returns setof text
language sql as $$ select r.id from pg_temp.rows() r where not exists (select from pg_temp.places p where (p.id, p.place) = (r.id, r.place)) order by 1 $$;
create procedure pg_temp.look()
language sql as $$
  truncate pg_temp.places;
  insert into pg_temp.places select * from pg_temp.rows();
$$;
create function pg_temp.ticket(wanted text) returns jsonb
language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('assignee', t.assignee, 'reporter', t.reporter, 'type', t.ticket_type, 'priority', t.priority,
    'labels', to_jsonb(t.labels), 'due', t.due_date, 'resolved', (t.resolved_at at time zone 'UTC')::date))
  from public.tickets t where t.key = wanted
$$;
create function pg_temp.comments(wanted text) returns text
language sql as $$
  select string_agg(concat_ws('|', c.key, coalesce(c.author, '-'), c.body, to_char(c.created_at at time zone 'UTC', 'MM-DD'),
    to_char(c.updated_at at time zone 'UTC', 'MM-DD')), '; ' order by c.comment_id)
  from public.comments c join public.tickets t using (ticket_id) where t.key = wanted
$$;

select public.upsert_projects('[{"key": "AA", "name": "Apples"}, {"key": "BB", "name": "Bananas"}]');
create temporary table load as select $$[
  {"key": "AA-1", "project_key": "AA", "status": "Waiting for Bob", "status_category": "in_progress", "name": "Press leaks",
   "assignee": "Ann", "reporter": "Bob", "ticket_type": "Bug", "priority": "High", "labels": ["juice", "wet"], "due_date": "2025-05-01",
   "created_at": "2025-03-01T00:00:00Z", "updated_at": "2025-03-15T00:00:00Z", "resolved_at": "2025-03-14T00:00:00Z",
   "notes": [{"status": "Fixed", "note": "Sealed", "created_at": "2025-03-14T00:00:00Z"}],
   "comments": [
     {"key": "c1", "author": "Ann", "body": "Turn the valve", "created_at": "2025-03-02T00:00:00Z"},
     {"key": "c2", "author": "", "body": "Did so", "created_at": "2025-03-03T00:00:00Z", "updated_at": "2025-03-04T00:00:00Z"},
     {"key": " ", "body": "no key"}, {"body": "none at all"}, {"key": "c3", "body": " "}]},
  {"key": "AA-2", "project_key": "AA", "status": "fixed", "name": "Press hums", "updated_at": "2025-03-15T00:00:00Z"},
  {"key": "BB-1", "project_key": "BB", "status": "Fixed", "status_category": "to_do", "name": "Peel", "updated_at": "2025-03-15T00:00:00Z"},
  {"key": "ZZ-1", "project_key": "ZZ", "status": "Fixed", "name": "Of no project", "comments": [{"key": "z", "body": "lost"}]}
]$$::jsonb as tickets;

-- Tickets -----------------------------------------------------------------------------------------

create temporary table loaded as select u.* from load, public.upsert_tickets(load.tickets) u;
select is(pg_temp.ticket('AA-1'),
  '{"assignee": "Ann", "reporter": "Bob", "type": "Bug", "priority": "High", "labels": ["juice", "wet"], "due": "2025-05-01", "resolved": "2025-03-14"}',
  'an import stores people, type, priority, labels and dates');
select is(pg_temp.comments('AA-1'), 'c1|Ann|Turn the valve|03-02|03-02; c2|-|Did so|03-03|03-04', 'an import stores comments that have a key and a text');
select results_eq($$ select l.key, array(select c.key from unnest(l.comment_ids) x(comment_id) join public.comments c using (comment_id)), l.reason from loaded l order by 1 $$,
  $$ values ('AA-1', '{c1,c2}'::text[], null), ('AA-2', '{}', null), ('BB-1', '{}', null), ('ZZ-1', '{}', 'there is no project ZZ') $$, 'upsert_tickets returns each ticket''s comment IDs, and why a row is refused');
select results_eq($$ select name, category from public.status order by status_id $$,
  $$ values ('Fixed', 'to_do'), ('Waiting for Bob', 'in_progress') $$, 'a status gets the category of the first row that gives one');
select is((select count(*) from public.comments), 2::bigint, 'comments of tickets in unknown projects are not stored');

update public.status set category = 'done' where name = 'Fixed';
call pg_temp.look();
-- An insert takes a number, also where it finds its row and locks it.
create function pg_temp.numbers() returns text
language sql as $$ select concat_ws(' ', t.last_value, c.last_value, n.last_value) from public.tickets_ticket_id_seq t, public.comments_comment_id_seq c, public.status_changes_status_change_id_seq n $$;
create temporary table taken as select pg_temp.numbers();
select results_eq($$ select u.* from load, public.upsert_tickets(load.tickets) u order by 1 $$, $$ select * from loaded order by 1 $$, 'a repeated import returns the same');
select is_empty($$ select * from pg_temp.written() $$, 'a repeated import writes no rows and keeps a category changed by hand');

select is(pg_temp.numbers(), (select numbers from taken), 'nor does it try to');

select public.upsert_tickets('[{"key": "aa-1", "project_key": "AA", "status": "Fixed", "name": "Press leaks"}]');
select is(pg_temp.ticket('AA-1'),
  '{"assignee": "Ann", "reporter": "Bob", "type": "Bug", "priority": "High", "labels": ["juice", "wet"], "due": "2025-05-01", "resolved": "2025-03-14"}',
  'omitted fields are kept, also with a key in another case');
select is(pg_temp.comments('AA-1'), 'c1|Ann|Turn the valve|03-02|03-02; c2|-|Did so|03-03|03-04', 'an omitted comment list keeps all comments');
select public.upsert_tickets('[{"key": "AA-1", "project_key": "AA", "status": "Fixed", "name": "Press leaks", "assignee": null, "reporter": "",
  "ticket_type": null, "priority": "", "labels": null, "due_date": "", "resolved_at": null, "comments": null}]');
select is(pg_temp.ticket('AA-1'), '{"labels": []}', 'fields given as null or empty are cleared');
select is(pg_temp.comments('AA-1'), 'c1|Ann|Turn the valve|03-02|03-02; c2|-|Did so|03-03|03-04', 'a null comment list keeps all comments');

select public.upsert_tickets('[{"key": "AA-1", "project_key": "AA", "status": "Fixed", "name": "Press leaks", "comments": [
  {"key": "c1", "author": "Ann", "body": "Turn it", "created_at": "2025-04-01T00:00:00Z"},
  {"key": "c1", "author": "Ann", "body": "Turn it twice", "created_at": "2025-04-01T00:00:00Z", "updated_at": "2025-04-02T00:00:00Z"}]}]');
select is(pg_temp.comments('AA-1'), 'c1|Ann|Turn it twice|03-02|04-02; c2|-|Did so|03-03|03-04',
  'an edited comment keeps its creation time, and the last of two with one key is stored');

-- A row that changed has the time that it says, so that the next import writes nothing.
create function pg_temp.renamed() returns text
language sql as $$
  select public.upsert_tickets('[{"key": "AA-2", "project_key": "AA", "status": "Fixed", "name": "Press hums", "priority": "Low", "updated_at": "2025-03-15T00:00:00Z"}]');
  select to_char(t.updated_at, 'MM-DD') || (select count(*) from pg_temp.written() w where w = 'ticket AA-2') from public.tickets t where t.key = 'AA-2'
$$;
select is(pg_temp.renamed(), '03-151', 'a changed ticket has the time that the import says');
call pg_temp.look();
select is(pg_temp.renamed(), '03-150', 'and is not written again');

-- A column that an operator adds.
alter table public.tickets add column flavour text;
create function pg_temp.flavour(given text) returns text
language sql as $$
  select public.upsert_tickets(format('[{"key": "AA-2", "project_key": "AA", "status": "Fixed", "name": "Press hums"%s}]', given)::jsonb);
  select concat_ws(' ', t.flavour, to_char(t.updated_at, 'MM-DD')) from public.tickets t where t.key = 'AA-2'
$$;
select results_eq($$ select pg_temp.flavour(g) from unnest(array[', "flavour": "S 7", "updated_at": "2025-03-16T00:00:00Z"', ', "updated_at": "2025-03-17T00:00:00Z"', ', "flavour": "", "updated_at": "2025-03-18T00:00:00Z"']) g $$,
  array['S 7 03-16', 'S 7 03-17', '03-18'], 'an import writes any column of tickets by its name, keeps an absent one and clears an empty one');
create temporary table written as select pg_temp.flavour(', "flavour": "S 8"') as ticket;
create temporary table stored as select t.ctid::text as place from public.tickets t where t.key = 'AA-2';
insert into written select pg_temp.flavour(', "flavour": "S 8"');
select results_eq($$ select distinct w.ticket, t.ctid::text = s.place from written w, stored s, public.tickets t where t.key = 'AA-2' $$,
  $$ select 'S 8 ' || to_char(now(), 'MM-DD'), true $$, 'a ticket whose columns are the same is not written again');

-- Links -------------------------------------------------------------------------------------------

create function pg_temp.links() returns text
language sql as $$
  select string_agg(concat_ws(' ', t.key, l.kind, o.key), ', ' order by t.key, l.kind, o.key)
  from public.ticket_links l join public.tickets t using (ticket_id) join public.tickets o on o.ticket_id = l.other_ticket_id
$$;
-- Imports tickets with these links, {"AA-1": [{kind, key, inward}]}, and returns what
-- link_imported_tickets does.
create function pg_temp.link(given jsonb) returns table (links integer, unknown integer, examples text[])
language plpgsql as $$
declare
  import constant bigint := (select b.import_id from public.begin_import('tracker') b);
begin
  perform public.upsert_projects('[{"key": "AA", "name": "Apples"}, {"key": "BB", "name": "Bananas"}]', import, true);
  perform public.upsert_tickets((
    select jsonb_agg(jsonb_build_object('key', g.key, 'project_key', left(g.key, 2), 'status', 'Fixed', 'name', g.key, 'updated_at', '2025-03-15', 'links', g.value))
    from jsonb_each(given) g), import, true);
  return query select l.links, l.unknown, l.examples from public.link_imported_tickets(import) l;
end
$$;
create temporary table links as select $${
  "AA-1": [{"kind": "blocks", "key": "aa-2", "inward": false}, {"kind": "duplicates", "key": "XX-2", "inward": true}],
  "AA-2": [{"kind": "blocks", "key": "AA-1", "inward": true}, {"kind": "child_of", "key": "AA-2", "inward": false}, {"kind": "blocks", "key": "XX-1", "inward": false}],
  "BB-1": [{"kind": "relates_to", "key": "AA-1", "inward": true}]
}$$::jsonb as links;
select results_eq($$ select u.* from links, pg_temp.link(links.links) u $$,
  $$ values (6, 2, '{XX-2 duplicates AA-1: there is no ticket XX-2,AA-2 blocks XX-1: there is no ticket XX-1}'::text[]) $$, 'link_imported_tickets counts and names links to unknown tickets');
select is(pg_temp.links(), 'AA-1 blocks AA-2, AA-1 relates_to BB-1', 'links are stored once, and links of a ticket to itself are skipped');
call pg_temp.look();
select pg_temp.link(links.links) from links;
select pg_temp.link('{"BB-1": [{"kind": "relates_to", "key": "AA-1", "inward": false}]}');
select is_empty($$ select w from pg_temp.written() w where w like 'link%' $$, 'a repeated import of links and the reverse of a relates_to link write nothing');
select pg_temp.link('{"AA-1": [{"kind": "relates_to", "key": "AA-2"}, {"kind": "blocks", "key": "BB-1", "inward": true}], "AA-2": [{"kind": "relates_to", "key": "AA-1"}, {"kind": "blocks", "key": "AA-1"}]}');
select is(pg_temp.links(), 'AA-1 blocks AA-2, AA-1 relates_to AA-2, AA-1 relates_to BB-1, AA-2 blocks AA-1, BB-1 blocks AA-1',
  'links of other kinds are stored for both directions, and a relation that both tickets list once');
select * from finish();
rollback;
