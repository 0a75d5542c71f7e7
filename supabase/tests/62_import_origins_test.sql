-- An import changes, moves and removes only what came from its own origin.

begin;
select plan(30);

insert into public.status (name) values ('To Do');
insert into public.projects (key, name) values ('HAND', 'By hand'), ('APP', 'Of an application');
insert into public.tickets (key, project_id, status_id, name)
select 'HAND-1', p.project_id, s.status_id, 'By hand' from public.projects p, public.status s where p.key = 'HAND';

create temporary table runs (place integer generated always as identity, origin text, import_id bigint);
create function pg_temp.begin(wanted text) returns bigint
language sql as $$
  insert into runs (origin, import_id) select b.import_origin, b.import_id from public.begin_import(wanted) b returning import_id
$$;
create function pg_temp.run(wanted text) returns bigint
language sql as $$ select max(import_id) from runs where origin = wanted $$;
create function pg_temp.project(run bigint, wanted text, name text default null, take_over boolean default false) returns text
language sql as $$
  select coalesce('held by ' || p.held_by, 'ours') from public.upsert_projects(jsonb_build_array(jsonb_build_object('key', wanted, 'name', coalesce(name, wanted))), run, take_over) p
$$;
-- Imports tickets of one project: "KEY KEY".
create function pg_temp.tickets(run bigint, project text, wanted text, take_over boolean default false, more jsonb default '{}') returns text
language sql as $$
  select string_agg(t.key || coalesce(' held by ' || t.held_by, ''), ', ' order by t.key)
  from public.upsert_tickets((
    select jsonb_agg(jsonb_build_object('key', w, 'project_key', project, 'status', 'To Do', 'name', w || ' of ' || project) || more) from regexp_split_to_table(wanted, ' ') w), run, take_over) t
$$;
create function pg_temp.stored() returns text
language sql as $$
  select string_agg(p.key || ' ' || t.key, ', ' order by t.key) from public.tickets t join public.projects p using (project_id)
$$;

-- Origins -----------------------------------------------------------------------------------------

select is((select b.import_origin from public.begin_import(format => 'jsonl', project_keys => '{BB,AA}') b), 'jsonl AA', 'the first import of a format is named by it and a project');
select pg_temp.project((select max(import_id) from tasklens.imports), key) from unnest('{AA,BB}'::text[]) key;
select is((select b.import_origin from public.begin_import(format => 'jsonl', project_keys => '{CC,BB}') b), 'jsonl AA', 'an import with one of its projects has the same origin');
select is((select b.import_origin from public.begin_import(format => 'jira', project_keys => '{BB}') b), 'jira BB', 'one of another format has not');
select is((select b.import_origin from public.begin_import(' mine ', 'jsonl', '{BB}') b), 'mine', 'a given origin counts');
select is((select b.import_origin from public.begin_import('jsonl AA') b), 'jsonl AA', 'a default origin may be given');
select is(pg_temp.project((select max(import_id) from tasklens.imports), 'BB'), 'ours', 'it has its projects');
select is((select b.import_origin from public.begin_import(format => 'jsonl', project_keys => '{BB}') b), 'jsonl AA', 'and stays the default');
select pg_temp.project((select b.import_id from public.begin_import(format => 'jsonl', project_keys => '{ZZ}') b), 'ZZ');
select throws_ok($$ select public.begin_import(format => 'jsonl', project_keys => '{BB,ZZ}') $$, '22023', 'the projects came from several imports, jsonl AA, jsonl ZZ: say which of them this is',
  'projects of two origins want a given one');
select throws_ok($$ select public.begin_import() $$, '23514', null, 'an import without a name and projects is rejected');

-- Keys of others ----------------------------------------------------------------------------------

select pg_temp.begin('acme');
select pg_temp.begin('globex');
select results_eq($$ select pg_temp.project(pg_temp.run('acme'), k) from unnest('{PUMPS,HAND,PUMPS}'::text[]) k $$, $$ values ('ours'), ('held by '), ('ours') $$,
  'a project made by hand is refused');
select is(pg_temp.tickets(pg_temp.run('acme'), 'PUMPS', 'PUMPS-1 PUMPS-2 hand-1'), 'HAND-1 held by , PUMPS-1, PUMPS-2', 'and a ticket made by hand');
select is(pg_temp.project(pg_temp.run('globex'), 'PUMPS', 'Others'), 'held by acme', 'a project of another origin is refused');
select is(pg_temp.project(pg_temp.run('globex'), 'GX-PUMPS'), 'ours', 'a free key is not');
select is(pg_temp.tickets(pg_temp.run('globex'), 'GX-PUMPS', 'pumps-1 GX-PUMPS-1'), 'GX-PUMPS-1, PUMPS-1 held by acme', 'a ticket of another origin is refused, in any case');
select is(pg_temp.tickets(pg_temp.run('globex'), 'PUMPS', 'PUMPS-9 PUMPS-1'), 'PUMPS-1 held by acme, PUMPS-9 held by acme', 'no ticket enters a project of another origin');
select is(pg_temp.tickets(pg_temp.run('acme'), 'GX-PUMPS', 'PUMPS-1'), 'PUMPS-1 held by globex', 'and none moves to one');
select is(pg_temp.stored(), 'GX-PUMPS GX-PUMPS-1, HAND HAND-1, PUMPS PUMPS-1, PUMPS PUMPS-2', 'what is refused stays where it was');
select is((select name from public.projects where key = 'PUMPS'), 'PUMPS', 'with its name');
select is((select count(*) from public.tickets where name like '%of GX-PUMPS'), 1::bigint, 'and text');
select is(pg_temp.tickets(null, 'HAND', 'HAND-1 PUMPS-2'), 'HAND-1, PUMPS-2', 'without an import any key may be written');
select pg_temp.tickets(null, 'PUMPS', 'PUMPS-2');
select is(pg_temp.project(pg_temp.run('globex'), 'PUMPS', 'Others', true) || ', ' || pg_temp.tickets(pg_temp.run('globex'), 'PUMPS', 'PUMPS-1', true), 'ours, PUMPS-1', 'an import takes over what it is told to');
select is(pg_temp.project(pg_temp.run('acme'), 'PUMPS') || ', ' || pg_temp.tickets(pg_temp.run('acme'), 'PUMPS', 'PUMPS-2'), 'held by globex, PUMPS-2 held by globex', 'which is then refused to the first, with its tickets');

-- Moves -------------------------------------------------------------------------------------------

insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select project_id, ticket_id, 'ticket', 0, 'Hidden', 1, 'h', 'm', ('[1' || repeat(',0', 1535) || ']')::extensions.vector from public.tickets where key = 'GX-PUMPS-1';
select pg_temp.tickets(pg_temp.run('globex'), 'GX-PUMPS', 'GX-PUMPS-1', false, '{"description": "gasket", "notes": [{"note": "sealant"}], "comments": [{"key": "1", "body": "grease"}]}');
select pg_temp.project(pg_temp.run('globex'), 'VALVES');
create temporary table members as select k.key, gen_random_uuid() as user_id from unnest('{GX-PUMPS,VALVES}'::text[]) k(key);
insert into public.project_members (project_id, user_id) select p.project_id, m.user_id from members m join public.projects p using (key);
grant select on members to authenticated;
-- What a member of a project sees of the ticket: in the tables, and by each of its words.
create function pg_temp.seen_by(wanted text) returns text
language plpgsql as $$
declare
  seen text;
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', (select m.user_id from members m where m.key = wanted))::text, true), set_config('role', 'authenticated', true);
  seen := concat_ws(' ', (select count(*) from public.tickets), (select count(*) from public.status_changes), (select count(*) from public.comments), (select count(*) from public.chunks),
    (select count(*) from public.keyword_entries where ticket_id is not null), (select count(*) from public.comment_entries),
    (select count(*) from unnest('{gasket,sealant,grease}'::text[]) w, public.search_by_keyword(w)),
    (select count(*) from public.search_by_vector(('[1' || repeat(',0', 1535) || ']')::extensions.vector, 'm', 0.5)), (select count(*) from public.search_hybrid('GX-PUMPS-1') where exact));
  perform set_config('role', 'none', true);
  return seen;
end
$$;
select is(pg_temp.seen_by('GX-PUMPS') || ', ' || pg_temp.seen_by('VALVES'), '1 1 1 1 1 1 3 1 1, 0 0 0 0 0 0 0 0 0', 'members of its project see a ticket and all that belongs to it');
select pg_temp.tickets(pg_temp.run('globex'), 'VALVES', 'GX-PUMPS-1', false, '{"description": "gasket"}');
select is(pg_temp.seen_by('GX-PUMPS') || ', ' || pg_temp.seen_by('VALVES'), '0 0 0 0 0 0 0 0 0, 1 1 1 1 1 1 3 1 1', 'in the transaction that moves it they no longer do, and those of the new project do');

-- Removed rows ------------------------------------------------------------------------------------

select pg_temp.begin('other'), pg_temp.begin('p');
select pg_temp.project(pg_temp.run('other'), 'O'), pg_temp.tickets(pg_temp.run('other'), 'O', 'O-1');
select pg_temp.project(pg_temp.run('p'), k),
  pg_temp.tickets(pg_temp.run('p'), k, t, false, '{"comments": [{"key": "1", "body": "one"}, {"key": "2", "body": "two"}], "links": [{"kind": "blocks", "key": "P-1"}]}')
from (values ('P', 'P-1 P-2 P-3 P-4 P-5 P-6'), ('Q', 'Q-1')) v(k, t);
select public.link_imported_tickets(pg_temp.run('p'));
insert into public.tickets (key, project_id, status_id, name)
select 'P-7', p.project_id, s.status_id, 'By hand' from public.projects p, public.status s where p.key = 'P' and s.name = 'To Do';
insert into public.comments (ticket_id, body) select ticket_id, 'By hand' from public.tickets where key = 'P-2';
insert into public.ticket_links (ticket_id, kind, other_ticket_id) select a.ticket_id, 'relates_to', b.ticket_id from public.tickets a, public.tickets b where (a.key, b.key) = ('P-2', 'P-3');
select pg_temp.begin('p');
select pg_temp.project(pg_temp.run('p'), 'P'),
  pg_temp.tickets(pg_temp.run('p'), 'P', 'P-1 P-2', false, '{"comments": [{"key": "2", "body": "two"}], "links": []}'), pg_temp.tickets(pg_temp.run('p'), 'P', 'P-3 P-4');
select is_empty($$ select from public.link_imported_tickets(pg_temp.run('p')) where links <> 0 $$, 'a page of links of no tickets is empty');
select results_eq($$ select * from public.prune_import(pg_temp.run('p')) $$,
  $$ values (7, 4, 2, 2, 1, '{comment 1 of P-1,comment 1 of P-2,link: P-2 blocks P-1,ticket P-5,ticket P-6}'::text[]) $$,
  'prune_import counts what this origin once listed, in projects of this import, and in tickets that list such things');
select results_eq($$ select p.tickets, p.comments, p.ticket_links from (values (3), (1), (100), (100)) n(n), lateral public.prune_import(pg_temp.run('p'), n.n) p $$,
  $$ values (0, 2, 1), (1, 0, 0), (1, 0, 0), (0, 0, 0) $$, 'and removes it in batches');
select is(pg_temp.stored() || '; ' || (select string_agg(t.key || ' ' || c.body, ', ' order by t.key, c.comment_id) from public.comments c join public.tickets t using (ticket_id) where t.key like 'P-%')
    || '; ' || (select string_agg(t.key || ' ' || l.kind, ', ' order by t.key, l.kind) from public.ticket_links l join public.tickets t using (ticket_id)),
  'VALVES GX-PUMPS-1, HAND HAND-1, O O-1, P P-1, P P-2, P P-3, P P-4, P P-7, PUMPS PUMPS-1, PUMPS PUMPS-2, Q Q-1; '
  'P-1 two, P-2 two, P-2 By hand, P-3 one, P-3 two, P-4 one, P-4 two; P-2 relates_to, P-3 blocks, P-4 blocks, Q-1 blocks',
  'what is made by hand, by another origin, in another project, or not listed for a ticket at all stays');
-- A refused row says that its ticket is still there.
select pg_temp.begin('p');
select pg_temp.project(pg_temp.run('p'), 'P'), pg_temp.tickets(pg_temp.run('p'), 'P', 'P-1 P-2', false, '{"due_date": "soon", "comments": []}'), pg_temp.tickets(pg_temp.run('p'), 'P', 'P-3');
alter table public.tickets add constraint short_names check (name not like 'P-4%') not valid;
select pg_temp.tickets(pg_temp.run('p'), 'P', 'P-3 P-4');
alter table public.tickets drop constraint short_names;
select results_eq($$ select tickets, comments, ticket_links from public.prune_import(pg_temp.run('p')) $$, $$ values (0, 0, 0) $$, 'a ticket whose row is refused is not removed, nor what it has');
select pg_temp.begin('p');
select throws_ok($$ select public.prune_import((select min(import_id) from runs where origin = 'p'), 1) $$, '55000', null, 'an import that a later one has overtaken removes nothing');

select * from finish();
rollback;
