-- Data for choosing a threshold on the tracker's own texts: how similar queries are to the tickets
-- that they should find, and to others.

-- Each ticket is queried by its own name or, for at most half of the sample, by the name of a known
-- duplicate. Duplicates are not queried by their own names, because the other one would count as a
-- stranger.
create function public.sample_tickets(embedding_model text, match_count integer default 200)
returns table (ticket_key text, ticket_name text, duplicate boolean)
language sql stable rows 200 security invoker set search_path = ''
as $$
  -- A fixed but arbitrary order, so that the sample is reproducible.
  with embedded as not materialized (
    select t.ticket_id, t.key, t.name from public.tickets t
    where exists (
      select 1 from public.chunks c
      where c.ticket_id = t.ticket_id and c.model = sample_tickets.embedding_model
        and c.embedding_set = (select private.searched_set(sample_tickets.embedding_model)))
  ), duplicates as materialized (
    select o.key, t.name
    from public.ticket_links l
    join public.tickets t on t.ticket_id = l.ticket_id
    join embedded o on o.ticket_id = l.other_ticket_id
    where l.kind = 'duplicates'
    order by md5(t.key), t.key, o.key
    limit private.clamp(sample_tickets.match_count, 200, 1, 1000) / 2
  ), named as (
    select e.key, e.name from embedded e
    where not exists (
      select from public.ticket_links l where l.kind = 'duplicates' and e.ticket_id in (l.ticket_id, l.other_ticket_id))
    order by md5(e.key), e.key
    limit private.clamp(sample_tickets.match_count, 200, 1, 1000) - (select count(*) from duplicates)
  )
  select d.key, d.name, true from duplicates d
  union all
  select n.key, n.name, false from named n
$$;
comment on function public.sample_tickets is
  'A fixed random sample of the tickets embedded by a model, each with a name that should find it: its own, or that of a known duplicate (duplicate, at most half). match_count at most 1,000.';

create function public.compare_tickets(query_embeddings extensions.vector[], ticket_keys text[], embedding_model text)
returns table (place bigint, similarities double precision[])
language sql stable rows 100 security invoker set search_path = ''
as $$
  with compared as materialized (
    select k.place, c.embedding
    from unnest(compare_tickets.ticket_keys) with ordinality as k(key, place)
    join public.tickets t on upper(t.key) = upper(k.key)
    -- A ticket with very many comments says no more about similarities than its first 50 texts do.
    cross join lateral (
      select n.embedding from public.chunks n
      where n.ticket_id = t.ticket_id and n.model = compare_tickets.embedding_model
        and n.embedding_set = (select private.searched_set(compare_tickets.embedding_model))
      order by n.comment_id nulls first, n.position
      limit 50
    ) c
  )
  select q.place, array(
    select max(1 - (c.embedding operator(extensions.<=>) q.embedding))
    from generate_subscripts(compare_tickets.ticket_keys, 1) as k(place)
    left join compared c on c.place = k.place
    group by k.place
    order by k.place)
  from unnest(compare_tickets.query_embeddings) with ordinality as q(embedding, place)
  order by q.place
$$;
comment on function public.compare_tickets is
  'For each query the greatest cosine similarity to a chunk of each ticket (its own texts first, then its oldest comments, at most 50), in the order of the keys; null where a ticket does not exist or is not embedded by the model.';

insert into private.migrations (version) values ('20260101001680');
