-- A user's call reads about as much as the service's with an equal filter: rows are looked up by
-- index despite the policies. Rows and index entries are counted.

begin;
select plan(17);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) select n, 'P' || n, 'Project ' || n from generate_series(1, 600) n;
insert into public.tickets (ticket_id, key, project_id, status_id, name, description)
select n, 'AA-' || n, 1, 1, 'Pump ' || n, case when n % 10 = 0 then 'gasket' end from generate_series(1, 2000) n;
insert into public.comments (comment_id, ticket_id, author, body) select 10 * t + n, t, 'Ada', case when n = 1 then 'A valve leaks' else 'No news' end
from generate_series(1, 2000) t, generate_series(1, 2) n;
insert into public.status_changes (ticket_id, status_id, note) select t, 1, 'Seen' from generate_series(1, 2000) t;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) select t, 'blocks', t + 1 from generate_series(1, 1999) t;
drop index public.chunks_embedding_idx; -- building its graph would take longest
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, n, 'ticket', 0, 'Pump ' || n, 2, 'h', 'm', pg_temp.unit(cos(n), sin(n)) from generate_series(1, 2000) n;
insert into public.chunks (project_id, ticket_id, comment_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, c.ticket_id, c.comment_id, 'comment', 0, c.body, 3, 'h', 'm', pg_temp.unit(cos(c.comment_id), sin(c.comment_id)) from public.comments c;
insert into public.project_members (project_id, user_id) values (1, '00000000-0000-4000-8000-000000000001');
select tasklens.recount_sources();
select tasklens.merge_word_counts();
analyze public.projects, public.tickets, public.comments, public.status_changes, public.ticket_links, public.chunks, public.keyword_entries, public.comment_entries;

-- Of tables and indexes, so that a scan of a whole index counts too.
create function pg_temp.read() returns bigint
language sql as $$
  select sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid))::bigint
  from pg_catalog.pg_class c where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind in ('r', 'i')
$$;
create function pg_temp.cost(caller text, statement text) returns bigint
language plpgsql as $$
declare
  before bigint;
begin
  -- The second call counts: the first may prepare what later ones find.
  for i in 1..2 loop
    before := pg_temp.read();
    perform set_config('role', caller, true), set_config('request.jwt.claims', '{"sub": "00000000-0000-4000-8000-000000000001"}', true);
    execute format('select count(*) from (%s) x', statement);
    perform set_config('role', 'none', true);
  end loop;
  return pg_temp.read() - before;
end
$$;

-- %s: the filter by project, which a user does without.
create temporary table calls (place serial, name text, statement text);
insert into calls (name, statement) values
  ('search_by_keyword', $$ select * from public.search_by_keyword('gasket valve', 10, %s) $$),
  ('search_hybrid', $$ select * from public.search_hybrid('gasket valve', project_filter => %s) $$),
  ('search_hybrid with a vector', $$ select * from public.search_hybrid('gasket valve', pg_temp.unit(1), 'm', 0.5, project_filter => %s) $$),
  ('search_hybrid by time', $$ select * from public.search_hybrid('gasket valve', sort => 'newest', project_filter => %s) $$),
  ('search_hybrid of an excluded word', $$ select * from public.search_hybrid('pump valve -gasket', pg_temp.unit(1), 'm', 0.5, project_filter => %s) $$),
  ('search_facets', $$ select * from public.search_facets('gasket', project_filter => %s) $$),
  ('retrieve_chunks', $$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5, filters => jsonb_build_object('projects', %s::bigint), question => 'AA-5') $$),
  ('retrieve_chunks of all', $$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5, filters => jsonb_build_object('projects', %s::bigint), question => 'why do gasket and valve leak', corpus => 'all') $$),
  ('similar_tickets', $$ select * from public.similar_tickets(pg_temp.unit(1), 'm', filters => jsonb_build_object('projects', %s::bigint), query_text => 'Pump 7') $$),
  ('find_similar_tickets', $$ select * from public.find_similar_tickets(7, 'm', filters => jsonb_build_object('projects', %s::bigint)) $$),
  ('find_similar_tickets of an unknown key', $$ select * from public.find_similar_tickets(ticket_key => 'xx-7', embedding_model => 'm', filters => jsonb_build_object('projects', %s::bigint)) $$),
  ('list_tickets', $$ select * from public.list_tickets(filters => jsonb_build_object('projects', %s::bigint)) $$),
  ('get_ticket by id', $$ select * from public.get_ticket(7) where coalesce(%s, 1) = 1 $$),
  ('get_ticket by key', $$ select * from public.get_ticket(ticket_key => 'aa-7') where coalesce(%s, 1) = 1 $$),
  ('the comments of a ticket', $$ select * from public.comments where ticket_id = 7 and coalesce(%s, 1) = 1 $$),
  ('the notes of a ticket', $$ select * from public.status_changes where ticket_id = 7 and coalesce(%s, 1) = 1 $$),
  ('the links of a ticket', $$ select * from public.ticket_links where ticket_id = 7 and coalesce(%s, 1) = 1 $$);

select cmp_ok(pg_temp.cost('authenticated', format(c.statement, 'null')), '<=', (2 * pg_temp.cost('service_role', format(c.statement, '1')) + 100),
  format('%s reads about as much for a user as for the service', c.name))
from calls c order by c.place;

select * from finish();
rollback;
