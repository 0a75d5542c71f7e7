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
comment on function private.known_duplicates is 'The tickets linked as duplicates of a ticket, directly or through one other; at most 500.';

-- Every ticket that either search finds is scored by both: by its true cosine (of its first 20
-- chunks where only its words were found) and by its words. The score does not depend on what else
-- is found, so one threshold judges it.
create function public.similar_tickets(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_count integer default 5,
  exclude_ticket bigint default null,
  project_filter bigint default null,
  filters jsonb default null,
  query_text text default null
)
returns table (
  ticket_id bigint, ticket_key text, similarity double precision, ticket_name text, project_id bigint, status text,
  vector_rank bigint, keyword_rank bigint, keyword_score double precision,
  vector_contribution double precision, keyword_contribution double precision, fused_score double precision,
  duplicate_score double precision, likely_duplicate boolean
)
language plpgsql stable rows 5 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted constant integer := private.clamp(match_count, 5, 1, 100);
  left_out constant bigint[] := case when exclude_ticket is null then '{}' else exclude_ticket || private.known_duplicates(exclude_ticket) end;
  rule constant record := private.duplicate_rule(embedding_model);
  shares constant record := private.likeness_shares();
  set_id constant smallint := private.searched_set(embedding_model);
  width integer;
  found record;
  worded record;
begin
  -- The search also finds the ticket itself and projects' own texts. Usually few of these are near;
  -- if many are, repeat it with the maximum width. The width does not depend on match_count, so
  -- that a longer list begins with the shorter one.
  foreach width in array array[least(1000, 120 + cardinality(left_out)), 1000] loop
    select count(*) as sources,
      coalesce(array_agg(v.ticket_id order by v.rank) filter (where v.ticket_id <> all (left_out)), '{}') as tickets,
      coalesce(array_agg(v.similarity order by v.rank) filter (where v.ticket_id <> all (left_out)), '{}') as similarities
      into found
      -- No similarity is below -2, so there is no threshold: duplicates are judged by the score.
      from public.search_by_vector(query_embedding, embedding_model, -2, width, project_filter, filters => similar_tickets.filters) v;
    exit when cardinality(found.tickets) >= wanted or found.sources < width;
  end loop;
  select r.* into worded
    from private.rank_by_text(similar_tickets.query_text, left_out, similar_tickets.project_filter, similar_tickets.filters) r
    where similar_tickets.query_text is not null;
  return query
    with near as materialized (
      select f.ticket_id, f.similarity, f.rank
      from unnest(found.tickets, found.similarities) with ordinality as f(ticket_id, similarity, rank)
    ), worded_ticket as materialized (
      select w.ticket_id, w.score, w.share, w.name_share, w.rank
      from unnest(worded.tickets, worded.scores, worded.shares, worded.name_shares) with ordinality as w(ticket_id, score, share, name_share, rank)
    ), scored as (
      select coalesce(n.ticket_id, w.ticket_id) as ticket_id, coalesce(n.similarity, c.similarity) as similarity,
        n.rank as vector_rank, w.rank as keyword_rank, w.score, coalesce(w.name_share, 0) as name_share,
        coalesce(shares.vector * greatest(0, (coalesce(n.similarity, c.similarity) - rule.unrelated) / (1 - rule.unrelated)), 0) as by_vector,
        coalesce(shares.keyword * w.share, 0) as by_words
      from near n
      full join worded_ticket w on w.ticket_id = n.ticket_id
      left join lateral (
        select max(1 - (x.embedding operator(extensions.<=>) query_embedding)) as similarity
        from (
          select k.embedding from public.chunks k
          where k.ticket_id = w.ticket_id and k.model = similar_tickets.embedding_model and k.embedding_set = set_id
          order by k.position, k.chunk_id limit 20) x
        where n.ticket_id is null
      ) c on true
    )
    select t.ticket_id, t.key, s.similarity, t.name, t.project_id, z.name, s.vector_rank, s.keyword_rank, s.score,
      s.by_vector, s.by_words, s.by_vector + s.by_words, d.duplicate_score,
      -- A copy is one for any model.
      coalesce(d.duplicate_score >= coalesce(rule.threshold, 1), false)
    from scored s
    join public.tickets t using (ticket_id)
    join public.status z using (status_id)
    cross join lateral (
      select case when private.is_copy(similar_tickets.query_text, t.name, t.description) then 1
        else worded.specificity * (shares.fused * (s.by_vector + s.by_words) + shares.name * s.name_share) end as duplicate_score
    ) d
    order by s.by_vector + s.by_words desc, s.similarity desc nulls last, t.ticket_id
    limit wanted;
end
$$;
comment on function public.similar_tickets is
  'Tickets like a text (query_text: its name in the first line; query_embedding), each once, without exclude_ticket and its known duplicates, by fused_score, which is vector_contribution, 0.3 × (similarity - u) / (1 - u) with u as in search_hybrid, and keyword_contribution, 0.7 × keyword_score / what the text itself would score. similarity: cosine of the best chunk, null where none is embedded yet. duplicate_score: 1 for a copy, else specificity × (0.7 × fused_score + 0.3 × name_share), as from rank_by_text; likely_duplicate: it reaches 0.5, or 1 for a model that is neither measured nor documented. Without query_text: by vectors alone, and without the last two. No threshold; match_count at most 100.';

-- A ticket is compared by its first chunk: its name and the start of its description. On known
-- duplicates this finds as many as the mean of all chunks, which costs more and can be zero. The
-- chunk is current if the text begins with it, or equals it if it is the only one. A renamed
-- project, which appears in headers, does not change the ticket.
create function public.find_similar_tickets(
  ticket_id bigint, embedding_model text, match_count integer default 5, filters jsonb default null
)
returns table (project_name text, ticket_name text, text text, embedded boolean, results jsonb)
language plpgsql stable rows 1 security invoker set search_path = ''
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
    order by c.position
    limit 1;
  project_name := source.project_name;
  ticket_name := source.ticket_name;
  embedded := coalesce(starts_with(source.text, stored.text) and (stored.chunks > 1 or length(source.text) = length(stored.text)), false);
  if embedded then
    results := (
      select coalesce(jsonb_agg(to_jsonb(s) order by s.fused_score desc, s.similarity desc nulls last, s.ticket_id), '[]')
      from public.similar_tickets(
        stored.embedding, embedding_model, match_count, find_similar_tickets.ticket_id, filters => find_similar_tickets.filters,
        query_text => left(source.text, 20000)) s);
  else
    text := left(source.text, 100000);
  end if;
  return next;
end
$$;
comment on function public.find_similar_tickets is
  'results: the tickets most similar to a ticket, as from similar_tickets, without its linked duplicates. Where the ticket has no chunk of this model, or one of an older text, embedded is false, and text is what to compare it by instead: its own text, the first 100,000 characters, null where it has none. No row for an unknown ticket.';

-- Many at once: what a batch costs the database is bounded by its items.
create function private.check_batch(items integer) returns void
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if items > 20 then
    raise exception '% tickets are too many for one call', items using errcode = '22023', hint = 'Compare at most 20 at once.';
  end if;
end
$$;
comment on function private.check_batch is 'An error (22023) for more than 20 items.';

create function public.find_similar_tickets_batch(ticket_keys text[], embedding_model text, match_count integer default 5, filters jsonb default null)
returns table (place bigint, ticket_id bigint, project_name text, ticket_name text, text text, embedded boolean, results jsonb)
language plpgsql stable rows 20 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.check_batch(cardinality(ticket_keys));
  return query
    select k.place, t.ticket_id, f.project_name, f.ticket_name, f.text, f.embedded, f.results
    from unnest(find_similar_tickets_batch.ticket_keys) with ordinality as k(key, place)
    cross join lateral (select private.find_ticket(k.key) as ticket_id offset 0) t
    cross join lateral public.find_similar_tickets(t.ticket_id, embedding_model, match_count, find_similar_tickets_batch.filters) f
    order by k.place;
end
$$;
comment on function public.find_similar_tickets_batch is
  'find_similar_tickets for up to 20 keys, each with its place in the list, from 1. No row for an unknown ticket.';

create function public.similar_tickets_batch(drafts jsonb, embedding_model text, match_count integer default 5, filters jsonb default null)
returns table (place bigint, results jsonb)
language plpgsql stable rows 20 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.check_batch(jsonb_array_length(drafts));
  return query
    select d.place, (
      select coalesce(jsonb_agg(to_jsonb(s) order by s.fused_score desc, s.similarity desc nulls last, s.ticket_id), '[]')
      from public.similar_tickets(
        (d.item ->> 'query_embedding')::extensions.vector, embedding_model, match_count, (d.item ->> 'exclude_ticket')::bigint,
        (d.item ->> 'project_filter')::bigint, similar_tickets_batch.filters, left(d.item ->> 'query_text', 20000)) s)
    from jsonb_array_elements(similar_tickets_batch.drafts) with ordinality as d(item, place)
    order by d.place;
end
$$;
comment on function public.similar_tickets_batch is
  'similar_tickets for up to 20 texts: [{query_text, query_embedding, project_filter, exclude_ticket}], the last two optional; each with its place in the list, from 1.';

insert into private.migrations (version) values ('20260101001650');
