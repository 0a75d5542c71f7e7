-- With many documents, search uses the indexes and returns the same as an exhaustive search.

begin;
select plan(18);

\ir kit/documents.sql
-- 5,400 documents in the space of the first 4 numbers: 900 near to (1, 0, 0, 0), the others far
-- away. Keywords, utility, age and class are random, so that the weights change the order.
select setseed(0.6);
create temporary table made as
select i, case when i <= 900 then extensions.l2_normalize(pg_temp.unit(1, 1.4 * random(), 1.4 * random(), 1.4 * random()))
    else extensions.l2_normalize(pg_temp.unit(0.4 * random() - 0.2, random() - 0.5, random() - 0.5, random() - 0.5)) end as vector,
  array(select 'word' || floor(8 * random()) from generate_series(1, i % 4)) as keywords,
  (array['evergreen', 'current', 'dated', 'historical', null])[1 + floor(5 * random())::integer] as class,
  case when random() < 0.5 then 0 else 12 * random() end as utility, 300 * random() as days
from generate_series(1, 5400) i;
insert into public.documents (title, keywords, temporal_class, utility_score, created_at, embedding_status, archived)
select 'doc ' || i, keywords, class, utility, now() - make_interval(secs => 86400 * days), case when i % 50 = 0 then 'pending' else 'complete' end, i % 60 = 0 from made;
\ir kit/indexes.sql
select pg_temp.fill('public.embeddings_document_embedding_idx', $$
  insert into public.embeddings (document_id, model, embedding)
  select d.id, 'm', m.vector from made m join public.documents d on d.title = 'doc ' || m.i where extensions.vector_norm(m.vector) > 0 $$);
grant select on made to service_role;
analyze public.documents;
analyze public.embeddings;
set local role service_role;
set local plan_cache_mode = force_generic_plan;

-- The definition of the score, without optimizations.
create function pg_temp.scored(query extensions.vector, query_keywords text[], threshold double precision, decay double precision)
returns table (title text, score double precision)
language sql as $$
  with wanted as (select distinct lower(w) as word from unnest(query_keywords) w)
  select d.title, (0.5 * s.similarity
      + 0.25 * coalesce((select avg(exists (select from unnest(d.keywords) k where position(w.word in lower(k)) > 0)::integer) from wanted w), 0)
      + 0.15 * ln(least(10, d.utility_score) + 1) / ln(11)
      + 0.1 / (1 + extract(epoch from now() - d.created_at)::double precision / 86400 / decay))
    * case d.temporal_class when 'dated' then 0.7 when 'historical' then 0.5 else 1 end
  from public.documents d
  join public.embeddings e on e.document_id = d.id
  cross join lateral (select 1 - (e.embedding operator(extensions.<=>) query) as similarity) s
  where not d.archived and d.embedding_status = 'complete' and s.similarity > threshold
$$;
-- How many of a search's scores match those of the exhaustive search, and how many there are.
create function pg_temp.agreement(query extensions.vector, query_keywords text[], threshold double precision, decay integer, count integer) returns text
language sql as $$
  with ours as (
    select row_number() over () as place, final_score as score
    from public.search_documents_hybrid(query, query_keywords, count, threshold, false, decay, 'm')
  ), theirs as (
    select row_number() over (order by score desc) as place, score from pg_temp.scored(query, query_keywords, threshold, decay) order by score desc limit count
  )
  select count(*) filter (where abs(ours.score - theirs.score) < 1e-9) || ' of ' || count(*) from ours full join theirs using (place)
$$;

select cmp_ok((select count(*) from pg_temp.scored(pg_temp.unit(1), '{}', 0.5, 30)), '>', 500::bigint, 'more than 500 documents are above a threshold of 0.5');
select cmp_ok((select count(*) from pg_temp.scored(pg_temp.unit(1), '{}', 0.5, 30)), '<=', 1000::bigint, 'at most 1,000 documents are above a threshold of 0.5');
select is(pg_temp.agreement(pg_temp.unit(1), '{}', 0.5, 30, 100), '100 of 100', 'the results of a search without keywords equal the exhaustive search');
select is(pg_temp.agreement(pg_temp.unit(1), '{WORD3,word5}', 0.5, 30, 100), '100 of 100', 'the results of a search with keywords equal the exhaustive search');
select is(pg_temp.agreement(pg_temp.unit(1), '{word}', 0.45, 1, 100), '100 of 100', 'the results with a keyword that all documents match and a short decay equal the exhaustive search');
select is((
    select string_agg(distinct pg_temp.agreement(extensions.l2_normalize(pg_temp.unit(1, random(), random(), random())),
      array['word' || floor(8 * random()), 'd' || floor(8 * random()), 'absent'], 0.5 + 0.4 * random(), 1 + floor(100 * random())::integer, 20), ', ')
    from generate_series(1, 30)), '20 of 20', 'the results of 30 random queries equal the exhaustive search');
select cmp_ok((select count(*) from pg_temp.scored(pg_temp.unit(0, 1), '{}', -0.5, 30)), '>', 3000::bigint, 'more than 3,000 documents are above a threshold of -0.5');
select is(pg_temp.agreement(pg_temp.unit(0, 1), '{word3,word5}', -0.5, 30, 10), '10 of 10', 'candidates by keywords, utility and freshness complete a search with a low threshold');
select is(pg_temp.agreement(pg_temp.unit(-0.2, 1), '{}', -0.5, 300, 10), '10 of 10', 'a search with a low threshold and no keywords equals the exhaustive search');

-- With only one part weighted, the best documents are far from the query.
savepoint weights;
update public.search_config set similarity_weight = 0, keyword_weight = 0, utility_weight = 1, freshness_weight = 0, dated_weight = 1, historical_weight = 1;
update public.documents d set utility_score = case when abs(1 - (e.embedding operator(extensions.<=>) pg_temp.unit(0, 1))) < 0.02 then 10 else d.utility_score / 3 end
from public.embeddings e where e.document_id = d.id;
create temporary table useful as select * from public.search_documents_hybrid(pg_temp.unit(0, 1), '{}', 100, 0, false, 30, 'm');
select cmp_ok((select count(*) from useful where utility_boost = 1), '>', 10::bigint, 'the most useful documents are found far from the query');
select ok((select min(similarity) > 0 from useful), 'useful documents below the threshold are excluded');
update public.search_config set keyword_weight = 1, utility_weight = 0;
select is((select min(keyword_score) from public.search_documents_hybrid(pg_temp.unit(0, 1), '{word3,word5}', 100, -0.5, false, 30, 'm')), 1::double precision,
  'documents that match all keywords are found far from the query');
rollback to weights;

-- Plans -------------------------------------------------------------------------------------------

create function pg_temp.scans() returns bigint[] -- scans of the vector index, and sequential scans of the tables
language sql as $$
  select array[pg_stat_get_xact_numscans('public.embeddings_document_embedding_idx'::regclass),
    pg_stat_get_xact_numscans('public.embeddings'::regclass) + pg_stat_get_xact_numscans('public.documents'::regclass)]
$$;
create function pg_temp.scans_of(statement text) returns bigint[]
language plpgsql as $$
declare
  before bigint[] := pg_temp.scans();
begin
  execute statement;
  return array[(pg_temp.scans()) [1] - before [1], (pg_temp.scans()) [2] - before [2]];
end
$$;
select is(pg_temp.scans_of($$ select from public.search_documents(pg_temp.unit(1), 10, 0.5, 'm') $$), '{1,0}', 'vector search uses the index and no sequential scan');
select is(pg_temp.scans_of($$ select from public.search_documents_hybrid(pg_temp.unit(1), '{word3}', 10, 0.5, false, 30, 'm') $$), '{1,0}', 'hybrid search uses the index and no sequential scan');
select is(pg_temp.scans_of($$ select from public.search_documents_hybrid(pg_temp.unit(0, 1), '{word3}', 10, -0.5, false, 30, 'm') $$), '{1,0}', 'hybrid search with thousands of matches uses the index and no sequential scan');
-- With the query's neighbourhood archived, the index returns the rest late, in unordered
-- batches.
savepoint before;
update public.documents d set archived = true from made m where d.title = 'doc ' || m.i and m.i <= 900 and random() < 0.95;
create temporary table nearest as
select d.title from public.documents d join public.embeddings e on e.document_id = d.id
where not d.archived and d.embedding_status = 'complete' order by e.embedding operator(extensions.<=>) pg_temp.unit(1), d.id limit 10;
select bag_eq($$ select title from public.search_documents(pg_temp.unit(1), 10, -1, 'm') $$, 'select title from nearest', 'archived documents near the query hide no others');
rollback to before;
set local hnsw.max_scan_tuples = 200;
update public.documents set archived = true where title <> 'doc 1' and title <> 'doc 5399' and retrieval_count = 0 and random() < 0.15;
select is(pg_temp.agreement(pg_temp.unit(1), '{word3}', 0.5, 30, 20), '20 of 20', 'if the index scan stops early, all documents are compared');
select is(current_setting('enable_sort'), 'on', 'search restores the caller''s planner settings');

select * from finish();
rollback;
