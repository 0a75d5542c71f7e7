-- Search of documents by meaning, keywords, usefulness and age.

create index documents_keyword_pieces_idx on public.documents using gin (tasklens.pieces(keywords)) where not archived and embedding_status = 'complete';

-- Security definer: with row-level security the indexes could not be used. If more documents exceed
-- the threshold than are scored one by one, the best by score may not be among the nearest: a
-- document of similarity s can reach similarity_weight * s plus the full value of everything else.
-- So the most useful, the newest, and those with most of the keywords are scored too.
create function tasklens.rank_documents(
  query_embedding extensions.vector,
  query_keywords text[],
  match_count integer,
  match_threshold double precision,
  freshness_decay_days integer,
  embedding_model text
)
returns table (
  id uuid, title text, content text, similarity double precision, keyword_score double precision, utility_boost double precision,
  freshness_boost double precision, temporal_weight double precision, final_score double precision, keywords text[], temporal_class text
)
-- Force index scans; see search_documents.
language plpgsql stable rows 10 security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  -- This many are scored one by one: if no more exceed the threshold, none is missed.
  document_limit constant integer := 1000;
  further_limit constant integer := 1500;
  -- Without the character that joins a document's keywords, to search all of them at once. A longer
  -- one than any query would need an index lookup for each of its pieces.
  wanted constant text[] := array(
    select lower(k) from unnest((tasklens.combine_keywords(query_keywords, '{}')) [1:50]) k where strpos(k, e'\x01') = 0 and length(k) <= 2000);
  threshold constant double precision := coalesce(match_threshold, 0.3);
  decay constant double precision := greatest(0, coalesce(freshness_decay_days, 30));
  document_ids uuid[];
  similarities double precision[];
begin
  select array_agg(s.document_id), array_agg(s.similarity) into document_ids, similarities
    from tasklens.scan_embeddings(query_embedding, embedding_model, threshold, document_limit) s;
  if cardinality(document_ids) >= document_limit then
    select document_ids || array_agg(c.document_id), similarities || array_agg(c.similarity) into document_ids, similarities
      from (
        select a.id as document_id, 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
        from (
          (select d.id from public.documents d
            where not d.archived and d.embedding_status = 'complete' and d.utility_score > 0
            order by d.utility_score desc, d.id
            limit further_limit)
          union
          (select d.id from public.documents d
            where not d.archived and d.embedding_status = 'complete'
            order by d.created_at desc, d.id
            limit further_limit)
          union
          (select m.id
            from unnest(wanted) as w(word)
            cross join lateral (
              select d.id, d.utility_score, d.created_at from public.documents d
              where not d.archived and d.embedding_status = 'complete' and tasklens.pieces(d.keywords) @> tasklens.pieces(array[w.word], 3)
              limit 10000
            ) m
            group by m.id
            order by count(*) desc, max(m.utility_score) desc, max(m.created_at) desc, m.id
            limit further_limit)
        ) a
        join public.embeddings e on e.document_id = a.id and e.chunk_id is null
        where not exists (select from unnest(document_ids) as n(id) where n.id = a.id)
          and (embedding_model is null or e.model = embedding_model)
      ) c
      where c.similarity > threshold;
  end if;

  return query
    with parts as (
      select d.id, f.similarity,
        coalesce((select count(*) from unnest(wanted) w where strpos(lower(array_to_string(d.keywords, e'\x01')), w) > 0)
          / nullif(cardinality(wanted), 0)::double precision, 0) as keyword_score,
        least(1, ln(d.utility_score + 1) / ln(11::double precision)) as utility_boost,
        -- 1 / (1 + age / decay), in a form that is defined for decay 0.
        coalesce(decay / nullif(decay + a.age, 0), 1) as freshness_boost,
        case d.temporal_class
          when 'evergreen' then c.evergreen_weight
          when 'current' then c.current_weight
          when 'dated' then c.dated_weight
          when 'historical' then c.historical_weight
          else c.unknown_weight end as temporal_weight,
        c as weights
      from unnest(document_ids, similarities) as f(id, similarity)
      join public.documents d using (id)
      -- Force an index scan: some databases disallow sequential scans even of small tables.
      join public.search_config c on c.only_row
      -- A date in the future counts as now.
      cross join lateral (
        select greatest(0, extract(epoch from now())::double precision - extract(epoch from d.created_at)::double precision) / 86400 as age) a
    ), best as materialized (
      select p.*, ((p.weights).similarity_weight * p.similarity + (p.weights).keyword_weight * p.keyword_score
        + (p.weights).utility_weight * p.utility_boost + (p.weights).freshness_weight * p.freshness_boost) * p.temporal_weight as final_score
      from parts p
      order by final_score desc, p.similarity desc, p.id
      limit tasklens.clamp(match_count, 10, 1, 100)
    )
    select d.id, d.title, coalesce(d.visible_text, d.content), b.similarity, b.keyword_score, b.utility_boost, b.freshness_boost, b.temporal_weight, b.final_score,
      d.keywords, d.temporal_class
    from best b
    join public.documents d using (id)
    order by b.final_score desc, b.similarity desc, d.id;
end
$$;
comment on function tasklens.rank_documents is 'search_documents_hybrid without counting, in what the caller may see.';

create function public.search_documents_hybrid(
  query_embedding extensions.vector(768),
  query_keywords text[],
  match_count integer default 10,
  match_threshold double precision default 0.3,
  track_retrievals boolean default true,
  freshness_decay_days integer default 30,
  embedding_model text default null
)
returns table (
  id uuid, title text, content text, similarity double precision, keyword_score double precision, utility_boost double precision,
  freshness_boost double precision, temporal_weight double precision, final_score double precision, keywords text[], temporal_class text
)
language plpgsql volatile rows 10 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  found_ids uuid[] := array[]::uuid[];
begin
  perform tasklens.check_arguments(null, search_documents_hybrid.query_embedding, search_documents_hybrid.embedding_model, 768);
  for id, title, content, similarity, keyword_score, utility_boost, freshness_boost, temporal_weight, final_score, keywords, temporal_class in
    select r.* from tasklens.rank_documents(query_embedding, query_keywords, match_count, match_threshold, freshness_decay_days, embedding_model) r
  loop
    found_ids := found_ids || id;
    return next;
  end loop;
  -- Readers cannot write: the service counts their retrievals, if at all.
  if coalesce(track_retrievals, true) and tasklens.is_unrestricted() and current_setting('transaction_read_only') = 'off' then
    perform public.track_document_retrievals(found_ids, null);
  end if;
end
$$;
comment on function public.search_documents_hybrid is
  'Documents strictly above match_threshold by final_score, the sum of similarity, keyword_score, utility_boost and freshness_boost, weighted by search_config, times temporal_weight. track_retrievals counts the results as retrieved, unless a user calls or the transaction is read-only. embedding_model null: vectors of any model.';

insert into tasklens.migrations (version) values ('20261127001150');
