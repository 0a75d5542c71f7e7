-- Retrieval for answers: the nearest chunks, with how similar they are to one another, so that the caller can trade
-- relevance against diversity (MMR) without the vectors having to travel.

create function public.retrieve_chunks(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20,
  project_filter bigint default null,
  status_filter text default null,
  source_chunk_limit integer default null
)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, kind text,
  text text, tokens integer, similarity double precision, over_threshold boolean, similarities real[]
)
language plpgsql volatile rows 20 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with scanned as (
    select s.chunk_id, s.project_id, s.ticket_id, s.similarity,
      row_number() over (partition by s.ticket_id, s.project_id order by s.similarity desc, s.chunk_id) as place_in_source
    from private.scan_chunks(
      retrieve_chunks.query_embedding, retrieve_chunks.embedding_model, retrieve_chunks.project_filter, retrieve_chunks.status_filter,
      retrieve_chunks.match_threshold,
      -- Behind the hundreds of chunks of a long ticket there are others, if these are wanted.
      case when retrieve_chunks.source_chunk_limit is null then greatest(1, least(100, retrieve_chunks.match_count)) else 10000 end,
      greatest(1, least(100, retrieve_chunks.match_count))) s
  ), kept as (
    select s.* from scanned s
    order by coalesce(s.place_in_source > greatest(1, retrieve_chunks.source_chunk_limit), false), s.similarity desc, s.chunk_id
    limit greatest(1, least(100, retrieve_chunks.match_count))
  ), nearest as materialized (
    select k.chunk_id, k.project_id, k.ticket_id, k.similarity, c.kind, c.text, c.tokens,
      -- Of length 1, so that the inner product is the cosine, for half the work; and lies here whole: as stored it may be
      -- compressed, and would be unpacked for every pair, which takes longer than comparing.
      extensions.l2_normalize(c.embedding) as embedding,
      k.similarity > retrieve_chunks.match_threshold as over_threshold,
      row_number() over (order by k.similarity desc, k.chunk_id) as place
    from kept k
    join public.chunks c using (chunk_id)
  )
  select n.chunk_id, n.ticket_id, n.project_id, p.name, t.key, t.name, s.name, n.kind, n.text, n.tokens, n.similarity, n.over_threshold,
    array(
      select (-(n.embedding operator(extensions.<#>) m.embedding))::real from nearest m where m.place < n.place order by m.place)
  from nearest n
  join public.projects p on p.project_id = n.project_id
  left join public.tickets t on t.ticket_id = n.ticket_id
  left join public.status s on s.status_id = t.status_id
  order by n.place;
end
$$;
comment on function public.retrieve_chunks(extensions.vector, text, double precision, integer, bigint, text, integer) is
  'The chunks nearest to a question: those over match_threshold, or else the nearest one alone with over_threshold false. With source_chunk_limit the first so many chunks of each ticket or project go before any further one of theirs. similarities[i] is the cosine similarity to the i-th row, for the rows before its own. match_count at most 100.';
revoke execute on function public.retrieve_chunks(extensions.vector, text, double precision, integer, bigint, text, integer) from public, anon, authenticated;
grant execute on function public.retrieve_chunks(extensions.vector, text, double precision, integer, bigint, text, integer) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001600');
