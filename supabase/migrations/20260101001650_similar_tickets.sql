-- Tickets similar to a ticket or a text: likely duplicates.

-- Known duplicates of a ticket, in either direction and over one other ticket: there is no need to
-- report them again.
create function private.known_duplicates(ticket_id bigint) returns bigint[]
language sql stable security invoker set search_path = ''
as $$
  with direct as (
    select l.other_ticket_id as id from public.ticket_links l where l.ticket_id = known_duplicates.ticket_id and l.kind = 'duplicates'
    union
    select l.ticket_id from public.ticket_links l where l.other_ticket_id = known_duplicates.ticket_id and l.kind = 'duplicates'
  ), known as (
    select d.id from direct d
    union
    select l.other_ticket_id from direct d join public.ticket_links l on l.ticket_id = d.id and l.kind = 'duplicates'
    union
    select l.ticket_id from direct d join public.ticket_links l on l.other_ticket_id = d.id and l.kind = 'duplicates'
  )
  -- A ticket rarely has many; if it does, the newest count.
  select array(select k.id from known k where k.id <> known_duplicates.ticket_id order by k.id desc limit 500)
$$;
comment on function private.known_duplicates(bigint) is 'The tickets linked as duplicates of a ticket, directly or through one other; at most 500.';
revoke execute on function private.known_duplicates(bigint) from public;
grant execute on function private.known_duplicates(bigint) to authenticated, service_role;

create function public.similar_tickets(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_count integer default 5,
  exclude_ticket bigint default null,
  project_filter bigint default null,
  filters jsonb default null
)
returns table (ticket_id bigint, ticket_key text, similarity double precision, ticket_name text, project_id bigint, status text)
language plpgsql volatile rows 5 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted constant integer := greatest(1, least(100, match_count));
  left_out constant bigint[] := case when exclude_ticket is null then '{}' else exclude_ticket || private.known_duplicates(exclude_ticket) end;
  width integer;
  found record;
begin
  -- The search also finds the ticket itself and projects' own texts. Usually few of these are near;
  -- if many are, repeat it with the maximum width.
  foreach width in array array[least(1000, wanted + 20 + cardinality(left_out)), 1000] loop
    select count(*) as sources,
      array_agg(v.ticket_id order by v.rank) filter (where v.ticket_id <> all (left_out)) as tickets,
      array_agg(v.similarity order by v.rank) filter (where v.ticket_id <> all (left_out)) as similarities
      into found
      -- No similarity is below -2, so there is no threshold: users judge duplicates by rank.
      from public.search_by_vector(query_embedding, embedding_model, -2, width, project_filter, filters => similar_tickets.filters) v;
    exit when cardinality(found.tickets) >= wanted or found.sources < width;
  end loop;
  return query
    select t.ticket_id, t.key, f.similarity, t.name, t.project_id, s.name
    from unnest(found.tickets, found.similarities) with ordinality as f(ticket_id, similarity, place)
    join public.tickets t using (ticket_id)
    join public.status s using (status_id)
    order by f.place
    limit wanted;
end
$$;
comment on function public.similar_tickets(extensions.vector, text, integer, bigint, bigint, jsonb) is
  'Tickets by the cosine similarity of their best chunk, each once, without exclude_ticket and its known duplicates; no threshold. match_count at most 100.';
revoke execute on function public.similar_tickets(extensions.vector, text, integer, bigint, bigint, jsonb) from public, anon, authenticated;
grant execute on function public.similar_tickets(extensions.vector, text, integer, bigint, bigint, jsonb) to authenticated, service_role;

-- A ticket is compared by its first chunk: its name and the start of its description. On known
-- duplicates this finds as many as the mean of all chunks, which costs more and can be zero. The
-- chunk is current if the text begins with it, or equals it if it is the only one. A renamed
-- project, which appears in headers, does not change the ticket.
create function public.find_similar_tickets(
  ticket_id bigint, embedding_model text, match_count integer default 5, filters jsonb default null
)
returns table (project_name text, ticket_name text, text text, embedded boolean, results jsonb)
language plpgsql volatile rows 1 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  source record;
  stored record;
begin
  perform private.read_filters(filters);
  select x.project_name, x.ticket_name, n.item ->> 'text' as text into source
    from public.tickets t
    cross join lateral private.source_texts(array[t.project_id], array[t.ticket_id]) x
    left join lateral jsonb_array_elements(x.texts) as n(item) on n.item ->> 'kind' = 'ticket'
    where t.ticket_id = find_similar_tickets.ticket_id;
  if not found then
    return;
  end if;
  select c.text, c.embedding, count(*) over () as chunks into stored
    from public.chunks c
    where c.ticket_id = find_similar_tickets.ticket_id and c.kind = 'ticket' and c.model = embedding_model
      and c.embedding_set = private.searched_set(embedding_model)
      and (c.generation is null or c.generation <> all ((select private.hidden_generations())::bigint[]))
    order by c.position
    limit 1;
  project_name := source.project_name;
  ticket_name := source.ticket_name;
  embedded := coalesce(starts_with(source.text, stored.text) and (stored.chunks > 1 or length(source.text) = length(stored.text)), false);
  if embedded then
    results := (
      select coalesce(jsonb_agg(to_jsonb(s) - 'place' order by s.place), '[]')
      from public.similar_tickets(stored.embedding, embedding_model, match_count, find_similar_tickets.ticket_id, filters => find_similar_tickets.filters)
        with ordinality as s(ticket_id, ticket_key, similarity, ticket_name, project_id, status, place));
  else
    text := left(source.text, 100000);
  end if;
  return next;
end
$$;
comment on function public.find_similar_tickets(bigint, text, integer, jsonb) is
  'results: the tickets most similar to a ticket, as from similar_tickets, without its linked duplicates. Where the ticket has no chunk of this model, or one of an older text, embedded is false, and text is what to compare it by instead: its own text, the first 100,000 characters, null where it has none. No row for an unknown ticket.';
revoke execute on function public.find_similar_tickets(bigint, text, integer, jsonb) from public, anon, authenticated;
grant execute on function public.find_similar_tickets(bigint, text, integer, jsonb) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001650');
