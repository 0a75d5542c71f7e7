-- Reads documents for embedding and stores their chunks by compare-and-set, as for tickets (see
-- store_chunks).

-- Everything that embeddings and enrichments are computed from.
create function private.document_hash(title text, content text) returns text
language sql stable security invoker set search_path = ''
as $$
  select encode(sha256(convert_to(jsonb_build_array(document_hash.title, document_hash.content)::text, 'UTF8')), 'hex')
$$;
comment on function private.document_hash is 'The fingerprint of a document''s text.';

-- At least the first document, then as many as fit into 4 MB and 1,000 rows, as in read_sources.
-- Sizes are known without reading the texts.
create function private.readable_documents(document_ids uuid[]) returns integer
language sql stable security invoker set search_path = ''
as $$
  select least(coalesce(min(b.place) filter (where b.octets_before >= 4000000) - 1, count(*)), 1000)::integer
  from (
    select a.place, sum(coalesce(octet_length(d.content), 0)) over (order by a.place rows between unbounded preceding and 1 preceding) as octets_before
    from unnest(readable_documents.document_ids) with ordinality as a(id, place)
    left join public.documents d on d.id = a.id
  ) b
$$;
comment on function private.readable_documents is 'How many documents, from the first one, read_documents returns in one call.';

create function public.read_documents(document_ids uuid[])
returns table (id uuid, title text, text text, source_hash text, chunks jsonb, documents_read integer)
language sql stable rows 100 security invoker set search_path = ''
as $$
  with readable as materialized (
    select private.readable_documents(read_documents.document_ids) as documents
  )
  select d.id, d.title, left(case when d.content ~ '\S' then d.content else d.title end, private.text_limit()), private.document_hash(d.title, d.content),
    coalesce((
      select jsonb_agg(jsonb_build_object(
          'chunk_id', c.chunk_id, 'input_hash', c.input_hash, 'model', e.model, 'position', c.position
        ) order by c.position)
      from public.document_chunks c
      join public.embeddings e on e.document_id = c.document_id and e.chunk_id = c.chunk_id
      where c.document_id = d.id), '[]'),
    r.documents
  from readable r
  cross join unnest(read_documents.document_ids) with ordinality as a(id, place)
  join public.documents d on d.id = a.id
  where a.place <= r.documents
  order by a.place
$$;
comment on function public.read_documents is
  'For each document: its title, the text to chunk (its content up to the 200,000th character, or its title if that is blank), their fingerprint, and the chunks stored now, in order. A document that does not exist has no row. documents_read: how many documents of the array, from the first one, are included; if they are too many or too long for one response, call again for the rest.';

-- The mean of the chunks' vectors. If it is zero, the first chunk's vector is used.
create function private.store_document_vectors(document_ids uuid[]) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.embeddings as own (document_id, model, embedding)
  select m.document_id, m.model, case when extensions.vector_norm(m.mean) > 0 then extensions.l2_normalize(m.mean) else m.first end
  from (
    select c.document_id, min(e.model) as model, extensions.avg(e.embedding) as mean, (array_agg(e.embedding order by c.position)) [1] as first
    from public.document_chunks c
    join public.embeddings e on e.document_id = c.document_id and e.chunk_id = c.chunk_id
    where c.document_id = any (store_document_vectors.document_ids)
    group by c.document_id
  ) m
  on conflict (document_id, chunk_id) do update set model = excluded.model, embedding = excluded.embedding
    where own.model is distinct from excluded.model or own.embedding operator(extensions.<>) excluded.embedding
$$;
comment on function private.store_document_vectors is 'Computes the documents'' own vectors from those of their chunks.';

create function public.store_document_chunks(document_ids uuid[], source_hashes text[], chunks jsonb, embeddings extensions.vector[])
returns table (place bigint, stored boolean, embedding_ids uuid[])
language plpgsql volatile rows 100 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  current_ids uuid[];
  held bigint[]; -- sources
  waiting_jobs bigint[];
  ids uuid[];
begin
  -- Held while the vectors are written, locked after it: see store_chunks. Neither waits.
  held := private.find_sources(document_ids => document_ids);
  held := array(
    select s.source_id from private.sources s join public.documents d on d.id = s.document_id
    where s.source_id = any (held) for no key update of s skip locked for key share of d skip locked);
  current_ids := array(select s.document_id from private.sources s where s.source_id = any (held));
  waiting_jobs := array(select private.lock_waiting_jobs(held));

  ids := array(
    select coalesce(g.chunk_id, gen_random_uuid())
    from rows from (jsonb_to_recordset(store_document_chunks.chunks) as (chunk_id uuid)) with ordinality as g(chunk_id, place)
    order by g.place);
  set constraints public.document_chunks_document_id_position_key deferred;
  with given as materialized (
    select ids[g.place] as chunk_id, document_ids[g.source] as document_id, g.position, g.text, g.tokens, g.input_hash, g.model, g.embedding
    from rows from (jsonb_to_recordset(store_document_chunks.chunks) as (
        source bigint, chunk_id uuid, position bigint, text text, tokens integer, input_hash text, model text, embedding integer)) with ordinality
      as g(source, chunk_id, position, text, tokens, input_hash, model, embedding, place)
    where g.chunk_id is null and document_ids[g.source] = any (current_ids)
  ), added as (
    insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash)
    select g.chunk_id, g.document_id, g.position, g.text, g.tokens, g.input_hash from given g
  )
  insert into public.embeddings (document_id, chunk_id, model, embedding)
  select g.document_id, g.chunk_id, g.model, store_document_chunks.embeddings[g.embedding] from given g;

  current_ids := array(select d.id from public.documents d where d.id = any (current_ids) for no key update skip locked);
  -- A separate statement, whose snapshot includes every edit committed before the locks.
  current_ids := array(
    select d.id
    from unnest(document_ids, source_hashes) as a(id, source_hash)
    join public.documents d on d.id = a.id
    where d.id = any (current_ids) and private.document_hash(d.title, d.content) = a.source_hash);
  -- Another session may have replaced the chunks to keep.
  current_ids := array(
    select d.id from unnest(current_ids) as d(id)
    except
    select document_ids[g.source]
    from jsonb_to_recordset(store_document_chunks.chunks) as g(source bigint, chunk_id uuid)
    where g.chunk_id is not null
      and not exists (select 1 from public.document_chunks c where c.chunk_id = g.chunk_id and c.document_id = document_ids[g.source]));

  return query
  with given as materialized (
    select document_ids[g.source] as document_id, ids[g.place] as chunk_id, g.chunk_id is not null as kept, g.position
    from rows from (jsonb_to_recordset(store_document_chunks.chunks) as (source bigint, chunk_id uuid, position bigint)) with ordinality
      as g(source, chunk_id, position, place)
  ), dropped as materialized (
    -- Grouped instead of joined; see store_chunks.
    select x.chunk_id
    from (
      select g.chunk_id, g.document_id = any (current_ids) as wanted from given g where not g.kept or g.document_id = any (current_ids)
      union all
      select c.chunk_id, false from public.document_chunks c where c.document_id = any (current_ids)
    ) x
    group by x.chunk_id
    having not bool_or(x.wanted)
  ), removed as (
    delete from public.document_chunks c using dropped d where c.chunk_id = d.chunk_id
  ), moved as (
    update public.document_chunks c set position = g.position
    from given g
    where g.kept and g.document_id = any (current_ids) and c.chunk_id = g.chunk_id and c.position <> g.position
  )
  select a.place, a.id = any (current_ids),
    coalesce((select array_agg(g.chunk_id order by g.position) from given g where g.document_id = a.id and a.id = any (current_ids)), '{}')
  from unnest(document_ids) with ordinality as a(id, place)
  order by a.place;
  set constraints public.document_chunks_document_id_position_key immediate;

  delete from private.embedding_jobs j using private.sources s
  where j.embedding_job_id = any (waiting_jobs) and s.source_id = j.source_id and s.document_id = any (current_ids);
  perform private.store_document_vectors(current_ids);
  perform private.count_chunks(held);
  update public.documents d set embedding_status = 'complete' where d.id = any (current_ids) and d.embedding_status <> 'complete';
end
$$;
comment on function public.store_document_chunks is
  'Replaces the chunks of documents and computes their own vectors in one transaction, each document only if its text still has the fingerprint from read_documents. Otherwise, or while another session stores the document, stored is false: read it again. chunks: [{source: position of the document in document_ids from 1, chunk_id of a stored chunk to keep or null, position, text, tokens, input_hash, model, embedding: position of its vector in embeddings from 1}]. Chunks not listed are deleted, and the waiting job of a stored document ends. Returns the ids of all chunks of each document, in order.';

insert into private.migrations (version) values ('20260101003030');
