-- Counts, limits and offsets out of range: every function reads them by the same rule. Below the
-- range counts as its lowest value, above it as its highest, and null as the default.

begin;
select plan(91);

\ir kit/jobs.sql

select is(tasklens.clamp(v, 5, 1, 100), expected, 'clamp(' || coalesce(v::text, 'null') || ', 5, 1, 100) is ' || expected)
from (values (null, 5), (-2147483648, 1), (0, 1), (1, 1), (7, 7), (100, 100), (101, 100), (2147483647, 100)) c(v, expected);

create function pg_temp.unit(dimensions integer) returns extensions.vector
language sql as $$ select (array[1.0] || array_fill(0.0, array[dimensions - 1]))::extensions.vector $$;

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 1, 1, 'payment refused' from generate_series(1, 1100) i;
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.unit(1536) from public.tickets t;
insert into public.comments (ticket_id, body) select 1, 'payment' from generate_series(1, 150);
insert into public.documents (title, content, named_entities) select 'd' || i, 'x', '[{"name": "Raft"}]' from generate_series(1, 150) i;
insert into tasklens.query_log (query_id, asked_at, kind, question, outcome, total_ms)
select gen_random_uuid(), now(), 'query', 'q' || i, 'nothing', 1 from generate_series(1, 1100) i;
update tasklens.embedding_jobs set due_at = now() - interval '1 hour';
create temporary table readable as select * from public.read_sources(array(select s.source_id from tasklens.sources s where s.document_id is not null));
select from public.store_chunks((select jsonb_agg(jsonb_build_object('source_id', r.source_id, 'source_hash', r.source_hash, 'truncated', false)) from readable r),
  (select jsonb_agg('{"position": 0, "text": "payment", "tokens": 1, "input_hash": "h", "model": "m", "embedding": 1}' || jsonb_build_object('source_id', r.source_id)) from readable r),
  array[pg_temp.unit(768)]);
-- More dead jobs than a call lists.
create temporary table dead as
select embedding_job_id from job where ticket_id is not null order by 1 limit 1050;
update tasklens.embedding_jobs set dead_at = now() where embedding_job_id in (select embedding_job_id from dead);

-- Every function with such an argument, the number of rows or items that a call returns by default
-- and at most (of the data above), and the call. Null: only tested to accept any value.
create temporary table call (function text, argument text, by_default integer, most integer, statement text);
insert into call values
  ('claim_embedding_jobs', 'job_limit', null, null, 'select from public.claim_embedding_jobs(%s)'),
  ('clear_retired_set', 'row_limit', null, null, 'select public.clear_retired_set(null, %s)'),
  ('copy_changes', 'row_limit', null, null, 'select public.copy_changes(%s)'),
  ('count_tickets', 'match_count', 10, 100, 'select from public.count_tickets(match_count => %s) c, jsonb_array_elements(c.tickets)'),
  ('find_documents_by_entity', 'match_limit', 10, 100, 'select from public.find_documents_by_entity(''raft'', null, %s)'),
  ('find_similar_documents', 'match_count', 5, 100, 'select from public.find_similar_documents((select min(id::text)::uuid from public.documents), %s)'),
  ('find_similar_tickets', 'match_count', 5, 100, 'select from public.find_similar_tickets(1, ''m'', %s) f, jsonb_array_elements(f.results)'),
  ('get_ticket', 'comment_limit', 20, 100, 'select from public.get_ticket(1, null, %s) t, jsonb_array_elements(t.comments)'),
  ('get_ticket', 'comment_offset', null, null, 'select from public.get_ticket(1, null, 10, %s)'),
  ('link_imported_tickets', 'match_count', null, null, 'select from public.link_imported_tickets(1, 0, %s)'),
  ('list_dead_embedding_jobs', 'match_count', 100, 1000, 'select from public.list_dead_embedding_jobs(%s)'),
  ('list_projects', 'match_count', null, null, 'select from public.list_projects('''', %s)'),
  ('list_statuses', 'match_count', null, null, 'select from public.list_statuses(0, %s)'),
  ('list_tickets', 'match_count', 10, 100, 'select from public.list_tickets(%s)'),
  ('list_tickets', 'match_offset', null, null, 'select from public.list_tickets(10, %s)'),
  ('list_unenriched_documents', 'match_limit', 150, 150, 'select from public.list_unenriched_documents(null, %s)'),
  ('log_queries', 'retention_days', null, null, 'select from public.log_queries(''[]'', %s)'),
  ('measure_missing_embeddings', 'sample_count', null, null, 'select from public.measure_missing_embeddings(''m'', true, %s)'),
  ('nearest_chunks', 'match_count', 10, 1000, 'select from public.nearest_chunks(pg_temp.unit(1536), %s)'),
  ('prune_documents', 'match_count', null, null, 'select from public.prune_documents(''o'', ''{}'', %s)'),
  ('prune_import', 'match_count', null, null, 'select from public.prune_import(1, %s)'),
  ('retrieve_chunks', 'match_count', 20, 100, 'select from public.retrieve_chunks(pg_temp.unit(1536), ''m'', 0.5, %s)'),
  ('search_by_keyword', 'match_count', 10, 1000, 'select from public.search_by_keyword(''payment'', %s)'),
  ('search_by_vector', 'match_count', 10, 1000, 'select from public.search_by_vector(pg_temp.unit(1536), ''m'', 0.5, %s)'),
  ('search_documents', 'match_count', 10, 100, 'select from public.search_documents(pg_temp.unit(768), %s)'),
  ('search_documents_hybrid', 'match_count', 10, 100, 'select from public.search_documents_hybrid(pg_temp.unit(768), array[]::text[], %s)'),
  ('search_hybrid', 'match_count', 10, 100, 'select from public.search_hybrid(''payment'', match_count => %s)'),
  ('search_hybrid', 'match_offset', null, null, 'select from public.search_hybrid(''payment'', match_offset => %s)'),
  ('similar_tickets', 'match_count', 5, 100, 'select from public.similar_tickets(pg_temp.unit(1536), ''m'', %s)'),
  ('unanswered_questions', 'days', null, null, 'select from public.unanswered_questions(%s)'),
  ('unanswered_questions', 'match_count', 50, 1000, 'select from public.unanswered_questions(7, %s)');

select results_eq(
  $$ select p.proname::text collate "default", a.name collate "default"
    from pg_catalog.pg_proc p cross join unnest(p.proargnames) a(name)
    where p.pronamespace = 'public'::regnamespace
      and a.name in ('batch_size', 'comment_limit', 'comment_offset', 'days', 'job_limit', 'match_count', 'match_limit', 'match_offset', 'retention_days', 'row_limit', 'sample_count')
    order by 1, 2 $$,
  $$ select function, argument from call order by 1, 2 $$,
  'this table lists all functions with a count, limit or offset');

-- The number of rows of a call, which is rolled back, or its error.
create function pg_temp.rows(statement text) returns text
language plpgsql as $$
declare
  found integer;
begin
  execute statement;
  get diagnostics found = row_count;
  raise exception using errcode = 'UNDO0', message = found::text;
exception
  when sqlstate 'UNDO0' then return sqlerrm;
  when others then return sqlstate || ' ' || sqlerrm;
end
$$;
grant select on call to service_role;
set local role service_role;
select is(pg_temp.rows(format(c.statement, v.value)), v.expected::text, format('%s with %s => %s returns %s rows', c.function, c.argument, v.value, v.expected))
from call c cross join lateral (values ('-5', 1), ('0', 1), ('null', c.by_default), ('2147483647', c.most)) v(value, expected)
where c.most is not null
order by c.function, c.argument, v.expected;
select matches(string_agg(pg_temp.rows(format(c.statement, v.value)), ' '), '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$', format('%s accepts any value of %s', c.function, c.argument))
from call c cross join (values ('-5'), ('0'), ('null'), ('2147483647')) v(value)
where c.most is null
group by c.function, c.argument;
reset role;

select * from finish();
rollback;
