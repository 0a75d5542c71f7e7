-- Retrieval for answers: the nearest chunks.

create function tasklens.find_chunks(
  question text, query_embedding extensions.vector, embedding_model text, match_threshold double precision,
  filters jsonb, chunk_limit integer, source_limit integer
)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision, named boolean)
language plpgsql stable rows 100 security definer set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  search constant tasklens.search := tasklens.begin_search(
    null, find_chunks.filters, find_chunks.query_embedding, find_chunks.embedding_model, find_chunks.match_threshold);
begin
  return query
  select n.*, true from tasklens.named_chunks(search, find_chunks.question) n
  union all
  select s.*, false from tasklens.scan_chunks(search, find_chunks.chunk_limit, find_chunks.source_limit) s;
end
$$;
comment on function tasklens.find_chunks is 'The chunks nearest to a question, as from scan_chunks, and those that it names (named), in what the caller may see.';

create function public.retrieve_chunks(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20,
  project_filter bigint default null,
  status_filter text default null,
  source_chunk_limit integer default null,
  question text default null,
  filters jsonb default null
)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, kind text,
  text text, tokens integer, similarity double precision, over_threshold boolean, similarities real[],
  named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz, fields jsonb
)
-- Planning takes longer than looking up the rows, so the plan is cached, as in search_hybrid.
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  wanted constant integer := tasklens.clamp(match_count, 20, 1, 100);
  all_filters constant jsonb := tasklens.check_arguments(
    retrieve_chunks.filters, retrieve_chunks.query_embedding, retrieve_chunks.embedding_model,
    project_filter => retrieve_chunks.project_filter, status_filter => retrieve_chunks.status_filter);
begin
  return query
  select d.chunk_id, d.ticket_id, d.project_id, d.project_name, d.ticket_key, d.ticket_name, d.status, d.kind, d.text, d.tokens, d.similarity,
    coalesce(d.similarity > retrieve_chunks.match_threshold, false), d.similarities, d.named, d.project_key, d.comment_id, d.comment_author, d.comment_created_at,
    d.fields
  from tasklens.describe_chunks(array(
    with found as materialized (
      select f.* from tasklens.find_chunks(
        retrieve_chunks.question, retrieve_chunks.query_embedding, retrieve_chunks.embedding_model, retrieve_chunks.match_threshold,
        all_filters,
        -- If several sources are wanted, read past the hundreds of chunks of a long ticket.
        case when retrieve_chunks.source_chunk_limit is null then wanted else 10000 end, wanted) f
    ), scanned as (
      select f.*, row_number() over (partition by f.ticket_id, f.project_id order by f.similarity desc, f.chunk_id) as place_in_source
      from found f where not f.named
    ), kept as (
      select s.* from scanned s
      order by coalesce(s.place_in_source > greatest(1, retrieve_chunks.source_chunk_limit), false), s.similarity desc, s.chunk_id
      limit wanted
    ), listed as (
      select k.chunk_id, k.project_id, k.ticket_id, k.similarity, false as named from kept k
      where k.chunk_id not in (select f.chunk_id from found f where f.named and f.chunk_id is not null)
      union all
      select f.* from found f where f.named
      order by named desc, similarity desc nulls last, chunk_id
      limit wanted
    )
    select row(l.chunk_id, l.ticket_id, l.project_id, null, l.similarity, null, l.named)::tasklens.retrieved
    from listed l
    order by l.similarity desc nulls last, l.chunk_id, l.ticket_id, l.project_id
  ), retrieve_chunks.embedding_model) d;
end
$$;
comment on function public.retrieve_chunks is
  'The chunks nearest to a question: those over match_threshold, else only the nearest one with over_threshold false. source_chunk_limit: this many chunks of each ticket or project come before any further one. question: chunks of what it names are added with named set, whatever their similarity. similarities[i]: the cosine similarity to row i, for the rows before its own; 0 if unknown. similarity, chunk_id and tokens are null if nothing is embedded, comment_* except for a comment. fields: the ticket''s assignee, reporter, type, priority, labels, dates and at most 20 links; null for a project. match_count at most 100.';

insert into tasklens.migrations (version) values ('20261127000810');
