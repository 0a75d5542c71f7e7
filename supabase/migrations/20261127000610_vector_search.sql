-- Vector search.

-- A vector rank of 100 adds 1/160 to a score, less than half of what rank 1 adds, so such a row
-- ranks behind every good result. Without filters, the index's first batch usually contains 100.
create function tasklens.nearest_sources(search tasklens.search, match_count integer default 100)
returns table (rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with best as (
    select distinct on (s.ticket_id, s.project_id) s.project_id, s.ticket_id, s.chunk_id, s.similarity
    -- Enough chunks that a long ticket with hundreds of them leaves room for others.
    from tasklens.scan_chunks(search, 10000, match_count, false) s
    order by s.ticket_id, s.project_id, s.similarity desc, s.chunk_id
  )
  select row_number() over (order by b.similarity desc, b.ticket_id nulls last, b.project_id) as rank,
    b.project_id, b.ticket_id, b.chunk_id, b.similarity
  from best b
  where search.embedding is not null
  order by 1
  limit match_count;
end
$$;
comment on function tasklens.nearest_sources is
  'The tickets and projects of a search by their nearest chunk, strictly over the threshold. match_count: as many as a hybrid search takes, for any page. None without an embedding.';

create function public.search_by_vector(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null,
  filters jsonb default null
)
returns table (
  rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, ticket_key text, ticket_name text
)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted constant integer := tasklens.clamp(match_count, 10, 1, 1000);
  all_filters constant jsonb := tasklens.check_arguments(
    search_by_vector.filters, search_by_vector.query_embedding, search_by_vector.embedding_model,
    project_filter => search_by_vector.project_filter, status_filter => search_by_vector.status_filter);
begin
  return query
  select row_number() over (order by b.similarity desc, b.ticket_id nulls last, b.project_id), b.project_id, b.ticket_id, b.chunk_id, b.similarity,
    t.key, t.name
  from (
    select distinct on (c.ticket_id, c.project_id) c.*
    from tasklens.find_chunks(
      null, search_by_vector.query_embedding, search_by_vector.embedding_model, search_by_vector.match_threshold,
      all_filters, 10000, wanted) c
    where c.similarity > search_by_vector.match_threshold
    order by c.ticket_id, c.project_id, c.similarity desc, c.chunk_id
  ) b
  left join lateral (select t.key, t.name from public.tickets t where t.ticket_id = b.ticket_id offset 0) t on true
  order by 1
  limit wanted;
end
$$;
comment on function public.search_by_vector is
  'Tickets and projects (ticket_id null) by the cosine similarity of their best chunk, strictly over match_threshold. Only chunks of embedding_model are compared. At most 1,000.';

-- For comparing vectors in the SQL editor: chunks of the serving set, nearest first.

-- Security definer: users have no right on the sets.
create function tasklens.serving_model() returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select coalesce(s.model, (
      select mode() within group (order by c.model)
      from (select c.model from public.chunks c where c.embedding_set = s.serving limit 1000) c))
    from tasklens.embedding_sets s);
end
$$;
comment on function tasklens.serving_model is 'The model of the serving set; if undecided, the most frequent one of a thousand of its chunks. Null without chunks.';

create function public.nearest_chunks(
  query_embedding extensions.vector(1536),
  match_count integer default 10,
  filters jsonb default null
)
returns table (similarity double precision, project_id bigint, ticket_id bigint, ticket_key text, kind text, text text, chunk_id uuid)
language plpgsql stable rows 10 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted constant integer := tasklens.clamp(match_count, 10, 1, 1000);
  all_filters constant jsonb := tasklens.check_arguments(nearest_chunks.filters, nearest_chunks.query_embedding, coalesce(tasklens.serving_model(), ''));
begin
  return query
  select s.similarity, c.project_id, c.ticket_id, t.key, c.kind, c.text, c.chunk_id
  from tasklens.find_chunks(
    null, nearest_chunks.query_embedding, tasklens.serving_model(), -2, all_filters, wanted, wanted) s
  join public.chunks c on c.chunk_id = s.chunk_id
  left join public.tickets t on t.ticket_id = c.ticket_id
  order by s.similarity desc, c.chunk_id
  limit wanted;
end
$$;
comment on function public.nearest_chunks is
  'The chunks nearest to a vector that the caller may see, by cosine similarity, of the set and the model that search uses. Filters apply before ranking. match_count at most 1,000.';

insert into tasklens.migrations (version) values ('20261127000610');
