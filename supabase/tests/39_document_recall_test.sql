-- Vector index scans find the documents and chunks that an exact scan finds, with all documents
-- near the query archived.

begin;
select plan(6);

-- Overlapping clusters: a vector is between the centre of its cluster and a random vector. Clusters
-- 0 and 1 are archived.
create function pg_temp.chance(seed bigint, place integer) returns double precision
language sql immutable as $$ select hashint8extended(seed, place) / 9223372036854775808.0 $$;
create function pg_temp.point(cluster bigint, seed bigint, spread double precision) returns extensions.vector
language sql as $$
  select extensions.l2_normalize((array_agg(pg_temp.chance(cluster, i) + spread * pg_temp.chance(1000 + seed, i) order by i)
    || array_fill(0::double precision, array[768 - 48]))::extensions.vector)
  from generate_series(1, 48) i
$$;
create temporary table made as
select m.id, m.archived, pg_temp.point(m.cluster, m.i, 1) as vector
from (
  select ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid as id, i % 10 > 0 as archived,
    case when i % 10 > 0 then i % 2 else 2 + i % 7 end as cluster, i
  from generate_series(1, 3000) i
) m;
insert into public.documents (id, title, embedding_status, archived) select m.id, 'document', 'complete', m.archived from made m;
insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash) select m.id, m.id, 0, 'chunk', 1, 'h' from made m;

-- Building an index is faster than growing it. With lower settings the index misses results among
-- three thousand rows, as the real one does among many more. Indexes are random, so the loss
-- varies.
create temporary table indexes as
select i.indexrelid::regclass::text as name, regexp_replace(pg_get_indexdef(i.indexrelid), '( WITH \(.*\))? WHERE ', ' WITH (m = 8, ef_construction = 20) WHERE ') as definition
from pg_index i where i.indexrelid in ('public.embeddings_document_embedding_idx'::regclass, 'public.embeddings_chunk_embedding_idx'::regclass);
do $$ declare index record; begin
  for index in select * from indexes loop execute format('drop index %s', index.name); end loop;
  insert into public.embeddings (document_id, chunk_id, model, embedding)
  select m.id, c.chunk_id, 'm', m.vector from made m cross join lateral (values (null), (m.id)) as c(chunk_id);
  for index in select * from indexes loop execute index.definition; end loop;
end $$;
analyze public.embeddings;
analyze public.documents;

-- So few documents would be compared exactly: force use of the index.
do $$ begin
  execute replace(pg_get_functiondef('tasklens.scan_embeddings'::regproc), '> 5000', '> 0');
end $$;

create function pg_temp.query(number bigint) returns extensions.vector language sql as $$ select pg_temp.point(number % 2, -number, 0.6) $$;
create temporary table truth as
select q as number, t.id
from generate_series(1, 40) q
cross join lateral (
  select m.id from made m where not m.archived
  order by (m.vector operator(extensions.<=>) pg_temp.query(q)) + 0, m.id limit 3) t;
create temporary table found as
select q as number, 'documents' as what, f.id
from generate_series(1, 40) q cross join lateral public.search_documents(pg_temp.query(q), 3, -1, 'm') f
union all
select q, 'chunks', f.document_id
from generate_series(1, 40) q cross join lateral (select s.* from tasklens.scan_embeddings(pg_temp.query(q), 'm', -2, 3, true) s order by s.similarity desc limit 3) f;
create function pg_temp.recalls(wanted text) returns setof numeric
language sql as $$
  select count(f.id) / 3.0 from truth t left join found f on f.number = t.number and f.id = t.id and f.what = wanted group by t.number
$$;

select is((select count(*) from found where what = 'documents'), 120::bigint, '40 document searches return three results each');
select cmp_ok((select avg(r) from pg_temp.recalls('documents') r), '>=', 0.95, 'document search has an average recall of at least 0.95');
select cmp_ok((select min(r) from pg_temp.recalls('documents') r), '>=', 0.6, 'each document search has a recall of at least 0.6');
select is((select count(*) from found where what = 'chunks'), 120::bigint, '40 chunk searches return three results each');
select cmp_ok((select avg(r) from pg_temp.recalls('chunks') r), '>=', 0.95, 'chunk search has an average recall of at least 0.95');
select cmp_ok((select min(r) from pg_temp.recalls('chunks') r), '>=', 0.6, 'each chunk search has a recall of at least 0.6');

select * from finish();
rollback;
