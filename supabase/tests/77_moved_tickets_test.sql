-- A ticket that moved in its tracker is one ticket under its new key, with all that it has, and its
-- former key leads to it. Links may name a ticket by its id there.

begin;
select plan(24);

create temporary table runs (origin text, import_id bigint);
create function pg_temp.begin(wanted text) returns void
language sql as $$ insert into runs select wanted, b.import_id from public.begin_import(wanted) b $$;
-- Imports a row for each KEY=ID, and lists what became of them.
create function pg_temp.tickets(origin text, wanted text, more jsonb default '{}') returns text
language plpgsql as $$
declare
  import constant bigint := (select max(r.import_id) from runs r where r.origin = tickets.origin);
  written jsonb;
begin
  perform public.upsert_projects((select jsonb_agg(distinct jsonb_build_object('key', split_part(w, '-', 1), 'name', split_part(w, '-', 1))) from regexp_split_to_table(wanted, ' ') w), import);
  written := (select jsonb_agg(t) from public.upsert_tickets((
    select jsonb_agg(jsonb_build_object('key', split_part(w, '=', 1), 'project_key', split_part(w, '-', 1), 'name', w, 'source_id', split_part(w, '=', 2), 'created_at', '2025-02-01') || more)
    from regexp_split_to_table(wanted, ' ') w), import) t);
  return (select string_agg(concat_ws(' ', w.key, (select count(*) from public.tickets t where t.ticket_id < w.ticket_id), w.held_by, w.reason), ', ' order by w.place)
    from rows from (jsonb_to_recordset(written) as (key text, ticket_id bigint, held_by text, reason text)) with ordinality w(key, ticket_id, held_by, reason, place));
end
$$;
create function pg_temp.link(origin text) returns text
language sql as $$ select l.unknown || ' ' || coalesce(l.examples::text, '') from public.link_imported_tickets((select max(r.import_id) from runs r where r.origin = link.origin)) l $$;
create function pg_temp.stored() returns text
language sql as $$ select string_agg(t.key || ' ' || (select count(*) from public.tickets o where o.ticket_id < t.ticket_id), ', ' order by t.key) from public.tickets t $$;
create function pg_temp.links() returns text
language sql as $$
  select string_agg(concat_ws(' ', t.key, l.kind, o.key), ', ' order by t.key, l.kind, o.key) from public.ticket_links l join public.tickets t using (ticket_id) join public.tickets o on o.ticket_id = l.other_ticket_id
$$;

select pg_temp.begin('harbour');
select is(pg_temp.tickets('harbour', 'QUAY-5=51 QUAY-6=52 YARD-1=41', '{"description": "The gasket leaks", "comments": [{"key": "c1", "body": "Grease helps"}]}'), 'QUAY-5 0, QUAY-6 1, YARD-1 2', 'tickets of a tracker');
insert into public.comments (ticket_id, body) select ticket_id, 'Written here' from public.tickets where key = 'QUAY-5';
insert into public.status_changes (ticket_id, note) select ticket_id, 'Noted here' from public.tickets where key = 'QUAY-5';
insert into public.ticket_links (ticket_id, kind, other_ticket_id) select a.ticket_id, 'blocks', b.ticket_id from public.tickets a, public.tickets b where (a.key, b.key) = ('QUAY-6', 'QUAY-5');
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select project_id, ticket_id, 'ticket', 0, 'The gasket leaks', 1, 'h', 'm', ('[1' || repeat(',0', 1535) || ']')::extensions.vector from public.tickets where key = 'QUAY-5';
create temporary table members as select k.key, gen_random_uuid() as user_id from unnest('{QUAY,YARD}'::text[]) k(key);
insert into public.project_members (project_id, user_id) select p.project_id, m.user_id from members m join public.projects p using (key);
grant select on members to authenticated;
-- What a member of a project sees by a key: the ticket itself, in a search, in a question.
create function pg_temp.found(project text, key text) returns text
language plpgsql as $$
declare
  seen text;
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', (select m.user_id from members m where m.key = project))::text, true), set_config('role', 'authenticated', true);
  seen := concat_ws(' ', coalesce((select t.ticket_key from public.get_ticket(ticket_key => found.key) t), '-'), coalesce((select s.ticket_key from public.search_hybrid(found.key) s where s.exact limit 1), '-'),
    coalesce((select r.ticket_key from public.retrieve_chunks(('[0' || repeat(',0', 1534) || ',1]')::extensions.vector, 'm', question => 'What became of ' || found.key || '?') r limit 1), '-'),
    (select count(*) from public.comments), (select count(*) from public.chunks), (select count(*) from public.search_by_keyword('gasket')));
  perform set_config('role', 'none', true);
  return seen;
end
$$;
select is(pg_temp.found('QUAY', 'quay-5') || ', ' || pg_temp.found('YARD', 'QUAY-5'), 'QUAY-5 QUAY-5 QUAY-5 3 1 2, - - - 1 0 1', 'members of its project find it');
delete from tasklens.data_version_changes;

-- It moves ----------------------------------------------------------------------------------------

select pg_temp.begin('harbour');
select is(pg_temp.tickets('harbour', 'YARD-9=51', '{"name": "Moved", "description": "The gasket leaks", "comments": [{"key": "c1", "body": "Grease helps"}], "links": [{"kind": "relates_to", "key": "QUAY-6"}]}'), 'YARD-9 0', 'its new key is that of the same ticket');
select is(pg_temp.tickets('harbour', 'QUAY-6=52', '{"links": [{"kind": "child_of", "key": "quay-5"}]}'), 'QUAY-6 1', 'another stays');
select is(pg_temp.link('harbour'), '0 ', 'a link may name the former key');
select is(pg_temp.stored() || '; ' || pg_temp.links(), 'QUAY-6 1, YARD-1 2, YARD-9 0; QUAY-6 blocks YARD-9, QUAY-6 child_of YARD-9, YARD-9 relates_to QUAY-6', 'it is one ticket, with its links');
select is((select string_agg(c.body, ', ' order by c.comment_id) || (select string_agg(n.note, '') from public.status_changes n where n.ticket_id = t.ticket_id)
  from public.tickets t join public.comments c using (ticket_id) where t.key = 'YARD-9' group by t.ticket_id), 'Grease helps, Written hereNoted here', 'with what was written to it here');
select is(pg_temp.found('QUAY', 'QUAY-5') || ', ' || pg_temp.found('YARD', 'quay-5'), '- - - 1 0 0, YARD-9 YARD-9 YARD-9 3 1 2', 'in this transaction members of the former project no longer find it, and those of the new one do, by its former key');
select results_eq($$ select f.value, f.exact from public.find_filter_values('{"keys": ["quay-5"]}') f $$, $$ values ('YARD-9', true) $$, 'nor is it reported as a key that no ticket has');
select is(pg_temp.found('YARD', 'YARD-9'), 'YARD-9 YARD-9 YARD-9 3 1 2', 'and by its new one');
select is((select pending > 0 from public.embedding_status('m')), true, 'it is embedded again under its new project');
select set_eq($$ select p.key from tasklens.data_version_changes c join public.projects p using (project_id) $$, '{QUAY,YARD}'::text[], 'and no cached answer of either project stays');
select pg_temp.begin('harbour');
select is(pg_temp.tickets('harbour', 'YARD-9=51 QUAY-6=52'), 'YARD-9 0, QUAY-6 1', 'the next import finds it under its new key');
select is((select string_agg(u.examples::text, '') from public.prune_import((select max(import_id) from runs)) u), '{"ticket YARD-1"}', 'nothing of it is left to be pruned');

-- Keys and ids that mean others -------------------------------------------------------------------

select pg_temp.begin('harbour');
select is(pg_temp.tickets('harbour', 'DOCK-2=51'), 'DOCK-2 0', 'it moves on');
select is(pg_temp.found('YARD', 'QUAY-5'), '- - - 1 0 1', 'out of sight');
select results_eq($$ select k.key, t.key from tasklens.keyed_tickets('{QUAY-5,YARD-9,DOCK-2}') k join public.tickets t using (ticket_id) order by 1 $$,
  $$ values ('DOCK-2', 'DOCK-2'), ('QUAY-5', 'DOCK-2'), ('YARD-9', 'DOCK-2') $$, 'each of its former keys leads to it');
select is(pg_temp.tickets('harbour', 'YARD-9=90'), 'YARD-9 3', 'a former key may be that of a new ticket');
select results_eq($$ select t.key from tasklens.keyed_tickets('{YARD-9}') join public.tickets t using (ticket_id) $$, $$ values ('YARD-9') $$, 'which it then names');
select pg_temp.begin('airport');
select is(pg_temp.tickets('airport', 'GATE-1=51 GATE-2=51'), 'GATE-1 4, GATE-2 5', 'ids of another origin are not the same, nor does one id make two rows one');
select pg_temp.begin('airport');
select is(pg_temp.tickets('airport', 'GATE-3=51') || ', ' || pg_temp.tickets('airport', 'GATE-4=7 GATE-5=7'), 'GATE-3 6, GATE-4 7, GATE-5 8', 'what several tickets have is no id');
select pg_temp.begin('harbour');
select is(pg_temp.tickets('harbour', 'DOCK-3=51', '{"created_at": "2024-05-05"}') || ', ' || pg_temp.tickets('harbour', 'DOCK-2=51 DOCK-4=52 QUAY-6=52'), 'DOCK-3 9, DOCK-2 0, DOCK-4 10, QUAY-6 1',
  'another server''s ticket with this id was made at another time, and a ticket that is listed stays');

-- Links by id -------------------------------------------------------------------------------------

select pg_temp.begin('lights');
select pg_temp.tickets('lights', 'LIGHT-10=50010 LIGHT-12=50012'), pg_temp.tickets('lights', 'LIGHT-11=50011', '{"links": [{"kind": "child_of", "source_id": "50010"}, {"kind": "blocks", "source_id": "50012", "inward": true}, {"kind": "child_of", "source_id": "41"}]}');
select is(pg_temp.link('lights'), '1 {"LIGHT-11 child_of 41: there is no ticket 41"}', 'a link to an id that no ticket of the origin has is named');
select is((select string_agg(l, ', ') from regexp_split_to_table(pg_temp.links(), ', ') l where l like '%LIGHT%'), 'LIGHT-11 child_of LIGHT-10, LIGHT-12 blocks LIGHT-11', 'others are stored');
select * from finish();
rollback;
