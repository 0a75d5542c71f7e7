-- Tickets similar to a ticket or a text: likely duplicates.

-- A score does not depend on what else is found, so one threshold judges it. Words weigh more than
-- in fuse_searches, as their score is divided by that of the text itself, which others rarely come
-- near. Security definer, because beneath a policy no index finds words.
create function tasklens.find_similar(
  text text, query_embedding extensions.vector, embedding_model text, exclude_tickets bigint[], wanted integer,
  filters jsonb
)
returns table (
  ticket_id bigint, similarity double precision, vector_rank bigint, keyword_rank bigint, score double precision,
  share double precision, name_share double precision, specificity double precision,
  vector_contribution double precision, keyword_contribution double precision, duplicate_score double precision, likely_duplicate boolean
)
language plpgsql stable rows 100 security definer set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  -- No similarity is below -2, so there is no threshold: duplicates are judged by the score.
  search tasklens.search := tasklens.begin_search(null, filters, query_embedding, embedding_model, -2);
  set_id constant smallint := tasklens.searched_set(embedding_model);
  unrelated constant double precision := tasklens.unrelated_similarity(embedding_model);
  is_known constant boolean := unrelated > 0 or exists (
    select from tasklens.match_thresholds m where m.embedding_model = find_similar.embedding_model and m.dimensions = 1536);
  plan tasklens.text_plan;
  width integer;
  sources bigint;
  tickets bigint[];
  similarities double precision[];
begin
  if (search.scope).is_empty then
    return;
  end if;
  -- The search also finds the ticket itself and projects' own texts. Usually few of these are near;
  -- if many are, repeat it with the maximum width. The width does not depend on wanted, so that a
  -- longer list begins with the shorter one.
  foreach width in array array[least(1000, 120 + cardinality(exclude_tickets)), 1000] loop
    select count(*), coalesce(array_agg(n.ticket_id order by n.rank) filter (where n.ticket_id <> all (exclude_tickets)), '{}'),
        coalesce(array_agg(n.similarity order by n.rank) filter (where n.ticket_id <> all (exclude_tickets)), '{}')
      into sources, tickets, similarities
      from tasklens.nearest_sources(search, width) n;
    exit when cardinality(tickets) >= wanted or sources < width;
  end loop;
  -- A word that only the ticket itself holds finds nothing else.
  if find_similar.text is not null then
    plan := tasklens.plan_text(find_similar.text, case when exclude_tickets = '{}' then 1 else 2 end);
    search.words := plan.words;
  end if;
  return query
  -- The bounds are those of search_by_keyword, with fewer entries scored: each has four times the
  -- words of a usual query, and a list has 100 at most.
  with candidate as materialized (
    select c.ticket_id, c.comment_id
    from tasklens.keyword_candidates(search, 8000, 1000) c
    where cardinality((plan.words).terms) > 0 and c.ticket_id is not null and c.ticket_id <> all (exclude_tickets)
    limit 200
  ), by_words as (
    select s.keyword_entry_id as ticket_id, s.score, row_number() over (order by s.score desc, s.keyword_entry_id) as rank
    from (select array_agg(c.ticket_id) as entries, array_agg(c.comment_id) as comments from candidate c) a
    cross join lateral tasklens.score_entries(a.entries, a.comments, plan.words, plan.name, 100) s
    order by rank
    limit 100
  )
  select coalesce(n.ticket_id, w.ticket_id), s.similarity, n.rank, w.rank, w.score, w.share, coalesce(w.name_share, 0), plan.specificity,
    f.by_vector, f.by_words, d.score, coalesce(is_known and d.score >= 0.5, false)
  from unnest(tickets, similarities) with ordinality as n(ticket_id, similarity, rank)
  full join (
    -- share: of what the text itself would score; name_share: of what the words of its name are
    -- worth.
    select b.ticket_id, b.rank, b.score, least(1, b.score / plan.own_score) as share, coalesce((
        select sum(u.worth) from unnest(plan.name_words, plan.name_worths) as u(word, worth) where e.words @@ u.word::tsquery)
        / (select nullif(sum(u), 0) from unnest(plan.name_worths) u), 0) as name_share
    from by_words b
    cross join lateral (select (array[k.words])[1] as words from public.keyword_entries k where k.keyword_entry_id = b.ticket_id offset 0) e
  ) w on w.ticket_id = n.ticket_id
  left join lateral (
    select max(1 - (x.embedding operator(extensions.<=>) query_embedding)) as similarity
    from (
      select k.embedding from public.chunks k
      where k.ticket_id = w.ticket_id and k.model = embedding_model and k.embedding_set = set_id
      order by k.position, k.chunk_id limit 20) x
    where n.ticket_id is null
  ) c on true
  cross join lateral (select coalesce(n.similarity, c.similarity) as similarity) s
  cross join lateral (
    select coalesce(0.3 * greatest(0, (s.similarity - unrelated) / (1 - unrelated)), 0) as by_vector, coalesce(0.7 * w.share, 0) as by_words
  ) f
  cross join lateral (select plan.specificity * (0.7 * (f.by_vector + f.by_words) + 0.3 * coalesce(w.name_share, 0)) as score) d;
end
$$;
comment on function tasklens.find_similar is
  'Tickets near to a text by vector, and those that share its words, in what the caller may see. specificity: how much the words of its name say, null without a text. For the other columns see similar_tickets.';

create function public.similar_tickets(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_count integer default 5,
  exclude_ticket bigint default null,
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
  all_filters constant jsonb := tasklens.check_arguments(similar_tickets.filters, similar_tickets.query_embedding, similar_tickets.embedding_model);
  wanted constant integer := tasklens.clamp(match_count, 5, 1, 100);
  typed constant text := ltrim(left(query_text, 20000), e' \t\r\n');
  own_specifics constant text[] := tasklens.specifics(left(split_part(typed, e'\n', 1), 500));
  -- A form that nobody has filled in.
  is_bare constant boolean := typed ~ e'\n\\s*\\S' and tasklens.without_form(typed) !~ e'\n\\s*\\S';
  excluded bigint[] := array[]::bigint[];
begin
  -- There is no need to report known duplicates again, in either direction and over one other
  -- ticket. A ticket rarely has many; if it does, the newest count.
  if exclude_ticket is not null then
    with pair as not materialized (
      select l.ticket_id as one, l.other_ticket_id as other from public.ticket_links l where l.kind = 'duplicates'
      union all
      select l.other_ticket_id, l.ticket_id from public.ticket_links l where l.kind = 'duplicates'
    ), direct as (
      select p.other as id from pair p where p.one = exclude_ticket
    )
    select exclude_ticket || array(
        select k.id from (select d.id from direct d union select p.other from direct d join pair p on p.one = d.id) k
        where k.id <> exclude_ticket order by k.id desc limit 500)
      into excluded;
  end if;
  return query
    select t.ticket_id, t.key, s.similarity, t.name, t.project_id, z.name, s.vector_rank, s.keyword_rank, s.score,
      s.vector_contribution, s.keyword_contribution, s.vector_contribution + s.keyword_contribution,
      case when c.is_copy then 1 when x.contradicts then s.duplicate_score / 2 else s.duplicate_score end,
      coalesce(c.is_copy, false) or s.likely_duplicate and not x.contradicts
    from tasklens.find_similar(
      similar_tickets.query_text, similar_tickets.query_embedding, similar_tickets.embedding_model, excluded, wanted, all_filters) s
    join public.tickets t using (ticket_id)
    join public.status z using (status_id)
    -- A copy is one for any model: equal but for case and whitespace. The name first, because it is
    -- short and nearly always differs.
    cross join lateral (
      select not is_bare and lower(regexp_replace(btrim(split_part(typed, e'\n', 1)), '\s+', ' ', 'g')) = lower(regexp_replace(btrim(t.name), '\s+', ' ', 'g'))
        and lower(btrim(regexp_replace(typed, '\s+', ' ', 'g')))
          = lower(btrim(regexp_replace(left(concat_ws(e'\n', t.name, coalesce(t.visible_text, t.description)), 20000), '\s+', ' ', 'g'))) as is_copy
      offset 0
    ) c
    -- Each name has one that the other lacks: upgrades to 3.8.3 and to 3.5.8 differ in little else.
    cross join lateral (
      select exists (
        select from unnest(own_specifics) a(one) join unnest(o.specifics) b(other) on left(a.one, 1) = left(b.other, 1)
        where a.one <> all (o.specifics) and b.other <> all (own_specifics)) as contradicts
      from (select case when own_specifics <> '{}' then tasklens.specifics(left(t.name, 500)) else '{}' end as specifics) o
      offset 0
    ) x
    order by s.vector_contribution + s.keyword_contribution desc, s.similarity desc nulls last, t.ticket_id
    limit wanted;
end
$$;
comment on function public.similar_tickets is
  'Tickets like a text (query_text: its name in the first line; query_embedding), without exclude_ticket and its known duplicates, by fused_score: the sum of vector_contribution, 0.3 × (similarity - u) / (1 - u) with u as in search_hybrid, and keyword_contribution, 0.7 × keyword_score / what the text itself would score. similarity: of the best chunk, null where none is embedded. duplicate_score: 1 for a copy, else specificity × (0.7 × fused_score + 0.3 × name_share) as from find_similar, and half of that where the names contradict each other in a key, host, version or number. likely_duplicate: it reaches 0.5, or 1 for a model without a known threshold. Without query_text: by vectors alone, without these two. match_count at most 100.';

-- A ticket is compared by its first chunk: on known duplicates this finds as many as the mean of
-- all, which costs more and can be zero. The chunk is current if the text begins with it, or equals
-- it if it is the only one. A renamed project, which appears in headers, changes no ticket.
create function public.find_similar_tickets(
  ticket_id bigint default null, embedding_model text default null, match_count integer default 5, filters jsonb default null,
  ticket_key text default null
)
returns table (project_name text, ticket_name text, text text, embedded boolean, results jsonb, exclude_ticket bigint)
language plpgsql stable rows 1 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  source record;
  stored record;
begin
  perform tasklens.check_arguments(filters);
  exclude_ticket := coalesce(find_similar_tickets.ticket_id, tasklens.find_ticket(find_similar_tickets.ticket_key));
  select p.name as project_name, t.name as ticket_name,
      nullif(regexp_replace(left(t.name || coalesce(e'\n\n' || nullif(coalesce(t.visible_text, t.description), ''), ''), tasklens.text_limit()), '^\s+$', ''), '') as text into source
    from public.tickets t join public.projects p using (project_id)
    where t.ticket_id = exclude_ticket;
  if not found then
    return;
  end if;
  select c.text, c.embedding, count(*) over () as chunks into stored
    from public.chunks c
    where c.ticket_id = exclude_ticket and c.kind = 'ticket' and c.model = embedding_model
      and c.embedding_set = tasklens.searched_set(embedding_model)
    order by c.position
    limit 1;
  project_name := source.project_name;
  ticket_name := source.ticket_name;
  embedded := coalesce(starts_with(source.text, stored.text) and (stored.chunks > 1 or length(source.text) = length(stored.text)), false);
  if embedded then
    results := (
      select coalesce(jsonb_agg(to_jsonb(s) order by s.fused_score desc, s.similarity desc nulls last, s.ticket_id), '[]')
      from public.similar_tickets(
        stored.embedding, embedding_model, match_count, exclude_ticket, filters => find_similar_tickets.filters,
        query_text => left(source.text, 20000)) s);
  else
    text := left(source.text, 100000);
  end if;
  return next;
end
$$;
comment on function public.find_similar_tickets is
  'results: the tickets most similar to a ticket (by its id, or by its key without regard to case), as from similar_tickets. Where it has no current chunk of this model, embedded is false, and text is what to compare it by instead, with exclude_ticket: its first 100,000 characters, null without any. No row for an unknown ticket.';

insert into tasklens.migrations (version) values ('20261127000910');
