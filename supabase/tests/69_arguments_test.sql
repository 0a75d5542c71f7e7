-- What is wrong with the arguments of a search is said in one message, with a hint, and without the
-- queries beneath.

begin;
select plan(27);

\ir kit/vectors.sql

create function pg_temp.told(statement text) returns text
language plpgsql as $$
declare
  message text;
  hint text;
  context text;
begin
  execute statement;
  return 'nothing';
exception when others then
  get stacked diagnostics message = message_text, hint = pg_exception_hint, context = pg_exception_context;
  -- The check, its call, the function called, and the two lines of this one.
  return concat_ws(' | ', sqlstate, message, nullif(hint, ''), case when regexp_count(context, '(^|\n)(SQL|PL/pgSQL) ') > 5 then context end);
end
$$;
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.tickets (ticket_id, project_id, status_id, key, name) values (11, 1, 1, 'AA-1', 'A crate of apples');

-- Before anything is embedded.
select is(pg_temp.told($$ select from public.nearest_chunks(pg_temp.unit(1)) $$), 'nothing', 'nothing is near where nothing is embedded');
select is(pg_temp.told($$ select from public.search_hybrid('apples', pg_temp.unit(1)) $$),
  '22023 | query_embedding is given without embedding_model | Name the model that made it: nothing is embedded yet.', 'an embedding without its model');

insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
values (1, 11, 'ticket', 0, 'A crate of apples', 5, 'h', 'stored', pg_temp.unit(1));

select is(pg_temp.told(s.statement), '22023 | query_embedding is given without embedding_model | Name the model that made it: the stored chunks are of "stored".', s.statement)
from (values ($$ select from public.search_hybrid('apples', pg_temp.unit(1)) $$), ($$ select from public.search_by_vector(pg_temp.unit(1), null) $$),
  ($$ select from public.search_facets('apples', pg_temp.unit(1)) $$), ($$ select from public.similar_tickets(pg_temp.unit(1), null) $$)) s(statement);

select is(pg_temp.told(s.statement), '22000 | query_embedding has 3 numbers, not 1536 | Add zeros to the vector of a model that gives fewer.', s.statement)
from (values ($$ select from public.search_hybrid('apples', '[1,0,0]', 'stored') $$), ($$ select from public.search_by_vector('[1,0,0]', 'stored') $$),
  ($$ select from public.nearest_chunks('[1,0,0]') $$), ($$ select from public.search_facets('apples', '[1,0,0]', 'stored') $$),
  ($$ select from public.retrieve_chunks('[1,0,0]', 'stored') $$),
  ($$ select from public.retrieve_chunks('[1,0,0]', 'stored', corpus => 'documents') $$), ($$ select from public.similar_tickets('[1,0,0]', 'stored') $$)) s(statement);
select is(pg_temp.told(s.statement), '22000 | query_embedding has 3 numbers, not 768 | Vectors of documents have 768: the first ones of a longer vector.', s.statement)
from (values ($$ select from public.search_documents('[1,0,0]') $$), ($$ select from public.search_documents_hybrid('[1,0,0]', '{raft}') $$)) s(statement);

select is(pg_temp.told($$ select from public.search_hybrid('apples', filters => '{"status": ["Done"]}') $$),
  '22023 | filters.status is unknown | Allowed: statuses, projects, assignee, reporter, types, priorities, labels, created, updated, resolved, due, open, not.', 'a filter of another name');
select is(pg_temp.told($$ select from public.search_by_keyword('apples', filters => '{"due": "tomorrow"}') $$),
  '22023 | filters.due is of type string | Use an object with from and to.', 'a filter of another shape');
select is(pg_temp.told($$ select from public.search_hybrid('apples', fusion => 'sum') $$), '22023 | fusion is "sum" | Use rrf or convex.', 'an unknown fusion');
select is(pg_temp.told($$ select from public.retrieve_chunks(pg_temp.unit(1), 'stored', corpus => 'chats') $$), '22023 | corpus is "chats" | Use tickets, documents or all.', 'an unknown corpus');
select is(pg_temp.told($$ select from public.search_hybrid('apples', sort => 'oldest') $$), '22023 | sort is "oldest" | Use relevance, newest or updated.', 'an unknown sort');

-- The older arguments are members of filters by another name. What no project or status can be is
-- no error, and nothing.
select is((select count(*)::integer from public.search_by_keyword('apples', 10, n.project, n.status, n.filters)), n.hits, n.name)
from (values
  (1, ' to do ', null::jsonb, 1, 'the project and the status of a ticket'),
  (1, 'To Do', '[{"statuses": ["to do"]}, {"projects": ["aa"]}]', 1, 'the same with filters'),
  (1, 'To Do', '{"statuses": ["Done"]}', 0, 'the same with filters that it does not pass'),
  (0, null, null, 0, 'a project that cannot be'),
  (-1, '', '{}', 0, 'a negative project'),
  (null, repeat('x', 300), null, 0, 'a status that cannot be')) n(project, status, filters, hits, name);

-- The service searches by words if its model is another one.
select is((select string_agg(ticket_key || ' ' || ticket_name, '') from public.search_hybrid('apples', pg_temp.unit(1), 'another')), 'AA-1 A crate of apples', 'another model is no error');

select * from finish();
rollback;
