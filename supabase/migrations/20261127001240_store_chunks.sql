-- Writes chunks by compare-and-set: if a text was edited while it was embedded, the chunks are not
-- stored. Writing the vectors of a long text takes long. Meanwhile its source can be edited: it is
-- locked, and its text compared, after they are written.

-- Never waits: a search index must not delay an application's edit or make it a deadlock victim.
create function tasklens.lock_sources(source_ids bigint[], against_edits boolean) returns bigint[]
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  locked bigint[] := array(select s.source_id from tasklens.sources s where s.source_id = any (lock_sources.source_ids) for no key update skip locked);
  notes bigint[];
  owner text[];
begin
  foreach owner slice 1 in array array[
    array['project_id', 'projects', 'project_id'], array['ticket_id', 'tickets', 'ticket_id'], array['comment_id', 'comments', 'comment_id'],
    array['document_id', 'documents', 'id']]
  loop
    execute format(
      'select array(select o.source_id from tasklens.source_owners o where o.source_id = any ($1) and o.%1$I is null) || array(
        select o.source_id from tasklens.source_owners o join public.%2$I r on r.%3$I = o.%1$I where o.source_id = any ($1) for %4$s of r skip locked)',
      owner[1], owner[2], owner[3], case when against_edits then 'share' else 'key share' end)
    into locked using locked;
  end loop;
  -- Deleting a note deletes its chunks without locking the ticket.
  notes := array(
    select n.status_change_id from public.status_changes n join tasklens.sources s using (ticket_id) where s.source_id = any (locked) for key share of n skip locked);
  return array(
    select s.source_id from tasklens.sources s
    where s.source_id = any (locked)
      and not exists (select from public.status_changes n where n.ticket_id = s.ticket_id and n.status_change_id <> all (notes)));
end
$$;
comment on function tasklens.lock_sources is
  'Locks sources until the transaction ends, without waiting, against other stores, deletion and moves; against_edits: also what their texts and names are read from. Returns those it locked.';

create type tasklens.given_chunk as (
  source_id bigint,
  chunk_id uuid,
  added boolean,
  kind text,
  status_change_id bigint,
  "position" bigint,
  text text,
  tokens integer,
  input_hash text,
  model text,
  embedding integer
);
comment on type tasklens.given_chunk is 'An element of the argument chunks of store_chunks. One without a chunk_id gets one, and is added.';

create function public.store_chunks(sources jsonb, chunks jsonb, embeddings extensions.vector[], embedding_set smallint default null)
returns table (source_id bigint, stored boolean, embedding_ids uuid[])
-- A plan cached while the queue was empty would scan all of it.
language plpgsql volatile rows 100 security invoker set search_path = '' set statement_timeout = '60s' set plan_cache_mode = force_custom_plan set jit = off
as $$
#variable_conflict use_column
declare
  sets tasklens.embedding_sets;
  target smallint;
  held bigint[]; -- sources
  current_ids bigint[]; -- those of them that are stored
  waiting_jobs bigint[];
  given tasklens.given_chunk[];
  dropped uuid[];
begin
  -- Until the transaction ends, no set is switched, and none is begun or abandoned.
  select s.* into strict sets from tasklens.embedding_sets s for share;
  target := coalesce(store_chunks.embedding_set, sets.serving);
  given := array(
    select jsonb_populate_record(g, jsonb_build_object('chunk_id', coalesce(g.chunk_id, gen_random_uuid()), 'added', g.chunk_id is null))
    from jsonb_populate_recordset(null::tasklens.given_chunk, store_chunks.chunks) g);
  -- A set only accepts vectors of its own model.
  held := tasklens.lock_sources(array(
    select s.source_id
    from jsonb_to_recordset(store_chunks.sources) as g(source_id bigint) join tasklens.sources s using (source_id)
    where s.document_id is not null or (target = sets.serving or sets.other_state = 'building') and s.source_id not in (
      select c.source_id from unnest(given) c
      where c.added and c.model <> case when target = sets.serving then sets.model else sets.other_model end)), false);
  -- Storing chunks ends the waiting jobs of their sources; see embedding_jobs. Locked now, so that
  -- no worker embeds the same, and that the texts compared below include what queued them.
  waiting_jobs := array(
    select j.embedding_job_id from tasklens.embedding_jobs j
    where j.kind = 'embed' and j.lease_id is null and not j.with_children and j.source_id = any (held) for update skip locked);
  -- Until the replaced chunks are deleted, new ones may have their positions.
  set constraints public.chunks_source_position_key, public.document_chunks_document_id_position_key deferred;
  with added as materialized (
    select g.*, o.project_id, o.ticket_id, o.comment_id, o.document_id
    from unnest(given) g join tasklens.source_owners o using (source_id)
    where g.added and g.source_id = any (held)
  ), tracked as (
    insert into public.chunks (
      chunk_id, embedding_set, project_id, ticket_id, comment_id, status_change_id, kind, position, text, tokens, input_hash, model, embedding)
    select a.chunk_id, target, a.project_id, a.ticket_id, a.comment_id, a.status_change_id, a.kind, a.position, a.text, a.tokens, a.input_hash, a.model,
      store_chunks.embeddings[a.embedding]
    from added a where a.document_id is null
  ), pieces as (
    insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash)
    select a.chunk_id, a.document_id, a.position, a.text, a.tokens, a.input_hash from added a where a.document_id is not null
  )
  insert into public.embeddings (document_id, chunk_id, model, embedding)
  select a.document_id, a.chunk_id, a.model, store_chunks.embeddings[a.embedding] from added a where a.document_id is not null;
  -- The comparison is a separate statement: its snapshot includes every edit committed before the
  -- locks. Set operations, here and below: with thousands of chunks on both sides a join planned
  -- for few would be a nested loop.
  held := tasklens.lock_sources(held, true);
  current_ids := array(
    select t.source_id
    from tasklens.source_texts(held) t join jsonb_to_recordset(store_chunks.sources) as g(source_id bigint, source_hash text) using (source_id)
    where t.source_hash = g.source_hash
    except
    -- Another session may have replaced the chunks to keep.
    select k.source_id
    from (
      select g.source_id, g.chunk_id from unnest(given) g where not g.added
      except select c.source_id, c.chunk_id from tasklens.source_chunks c where c.source_id = any (held) and coalesce(c.embedding_set, target) = target) k);
  dropped := array(
    (select g.chunk_id from unnest(given) g where g.added
      union select c.chunk_id from tasklens.source_chunks c where c.source_id = any (current_ids) and coalesce(c.embedding_set, target) = target)
    except
    select g.chunk_id from unnest(given) g where g.source_id = any (current_ids));
  delete from public.chunks c where c.chunk_id = any (dropped);
  delete from public.document_chunks c where c.chunk_id = any (dropped);
  update public.chunks c
  set position = g.position, kind = coalesce(g.kind, c.kind), status_change_id = case when g.kind is null then c.status_change_id else g.status_change_id end
  from unnest(given) g where g.source_id = any (current_ids) and c.chunk_id = g.chunk_id
    and (c.position <> g.position or g.kind is not null and (c.kind, c.status_change_id) is distinct from (g.kind, g.status_change_id));
  update public.document_chunks c set position = g.position
  from unnest(given) g where g.source_id = any (current_ids) and c.chunk_id = g.chunk_id and c.position <> g.position;
  set constraints public.chunks_source_position_key, public.document_chunks_document_id_position_key immediate;
  -- The vector of a document is the mean of those of its chunks. If it is zero, the first one's is
  -- used.
  insert into public.embeddings as own (document_id, model, embedding)
  select m.document_id, m.model, case when extensions.vector_norm(m.mean) > 0 then extensions.l2_normalize(m.mean) else m.first end
  from (
    select c.document_id, min(e.model) as model, extensions.avg(e.embedding) as mean, (array_agg(e.embedding order by c.position)) [1] as first
    from tasklens.sources s
    join public.document_chunks c on c.document_id = s.document_id
    join public.embeddings e on e.document_id = c.document_id and e.chunk_id = c.chunk_id
    where s.source_id = any (current_ids)
    group by c.document_id
  ) m
  on conflict (document_id, chunk_id) do update set model = excluded.model, embedding = excluded.embedding
    where own.model is distinct from excluded.model or own.embedding operator(extensions.<>) excluded.embedding;
  update public.documents d set embedding_status = 'complete'
  from tasklens.sources s
  where d.id = s.document_id and s.source_id = any (current_ids) and d.embedding_status <> 'complete';
  perform tasklens.count_chunks(current_ids);
  update tasklens.sources s set truncated = g.truncated
  from jsonb_to_recordset(store_chunks.sources) as g(source_id bigint, truncated boolean)
  where s.source_id = any (current_ids) and s.source_id = g.source_id and s.truncated <> g.truncated;
  -- With two sets, storing into one ends no job: the worker ends it when both are complete.
  delete from tasklens.embedding_jobs j using tasklens.sources s
  where j.embedding_job_id = any (waiting_jobs) and s.source_id = j.source_id and s.source_id = any (current_ids)
    and (sets.other_state <> 'building' or s.document_id is not null);
  return query
  select g.source_id, g.source_id = any (current_ids), array(
    select c.chunk_id from tasklens.source_chunks c
    where c.source_id = g.source_id and g.source_id = any (current_ids) and coalesce(c.embedding_set, target) = target order by c.position)
  from rows from (jsonb_to_recordset(store_chunks.sources) as (source_id bigint)) with ordinality as g(source_id, place) order by g.place;
end
$$;
comment on function public.store_chunks is
  'Replaces the chunks of sources in a set, by default the serving one, in one transaction. sources: [{source_id, source_hash, truncated}]; stored is false for one whose text has another fingerprint by now, that another session stores, or whose set or model is not in use. chunks: [{source_id, chunk_id of a stored chunk to keep or null, kind, status_change_id, position, text, tokens, input_hash, model, embedding: index from 1 in embeddings}]; those of documents have no kind, and 768 numbers. Ends the waiting job of a stored source, unless a set is being built. Returns the ids of all its chunks, in order.';

insert into tasklens.migrations (version) values ('20261127001240');
