-- Writes chunks by compare-and-set: if a text was edited while it was embedded, the chunks are not
-- stored. Writing the vectors of a long text takes long. Meanwhile its source can be edited: it is
-- locked, and its text compared, after they are written.

-- Holds sources against deletion and moves, and against other transactions that store them, until
-- the transaction ends; returns those held. Neither this nor lock_sources waits: a search index
-- must not delay an application's edit or make it a deadlock victim.
create function private.hold_sources(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[])
returns table (place bigint, source_id bigint)
language plpgsql volatile rows 100 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  source record;
  ids bigint[];
begin
  ids := private.find_sources(
    array(select a.project_id from unnest(project_ids, ticket_ids) as a(project_id, ticket_id) where a.ticket_id is null),
    array(select a.ticket_id from unnest(ticket_ids, comment_ids) as a(ticket_id, comment_id) where a.ticket_id is not null and a.comment_id is null),
    array(select a.comment_id from unnest(comment_ids) as a(comment_id) where a.comment_id is not null));
  for source in
    select a.*, s.source_id
    from unnest(project_ids, ticket_ids, comment_ids) with ordinality as a(project_id, ticket_id, comment_id, place)
    join private.sources s on s.source_id = any (ids)
      and case when a.comment_id is not null then s.comment_id = a.comment_id when a.ticket_id is not null then s.ticket_id = a.ticket_id
        else s.project_id = a.project_id end
    order by a.place
  loop
    perform 1 from private.sources s where s.source_id = source.source_id for no key update skip locked;
    continue when not found;
    perform 1 from public.projects p where p.project_id = source.project_id for key share skip locked;
    continue when not found;
    if source.ticket_id is not null then
      perform 1 from public.tickets t
      where t.ticket_id = source.ticket_id and t.project_id = source.project_id for key share skip locked;
      continue when not found;
    end if;
    if source.comment_id is not null then
      perform 1 from public.comments c where c.comment_id = source.comment_id and c.ticket_id = source.ticket_id for key share skip locked;
      continue when not found;
    elsif source.ticket_id is not null then
      -- Deleting a note deletes its chunks without locking the ticket.
      continue when (select count(*) from public.status_changes s where s.ticket_id = source.ticket_id) > (
        select count(*) from (select from public.status_changes s where s.ticket_id = source.ticket_id for key share skip locked) locked);
    end if;
    place := source.place;
    source_id := source.source_id;
    return next;
  end loop;
end
$$;
comment on function private.hold_sources is 'Holds these sources against deletion, moves and other stores, as far as possible without waiting; returns them with their indexes in the arrays.';

-- Locks sources against edits until the transaction ends, and returns the locked ones.
create function private.lock_sources(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[], places bigint[])
returns table (place bigint)
language plpgsql volatile rows 100 security invoker set search_path = ''
as $$
declare
  source record;
begin
  for source in
    select a.* from unnest(project_ids, ticket_ids, comment_ids) with ordinality as a(project_id, ticket_id, comment_id, place)
    where a.place = any (places)
  loop
    if source.ticket_id is null then
      perform 1 from public.projects p where p.project_id = source.project_id for no key update skip locked;
    else
      perform 1 from public.projects p where p.project_id = source.project_id for share skip locked;
      continue when not found;
      if source.comment_id is null then
        perform 1 from public.tickets t where t.ticket_id = source.ticket_id for no key update skip locked;
      else
        -- Shared, so that comments of one ticket can be stored concurrently.
        perform 1 from public.tickets t where t.ticket_id = source.ticket_id for share skip locked;
        continue when not found;
        perform 1 from public.comments c where c.comment_id = source.comment_id for no key update skip locked;
      end if;
    end if;
    if found then
      place := source.place;
      return next;
    end if;
  end loop;
end
$$;
comment on function private.lock_sources is 'Locks the sources at these indexes in the arrays as far as possible without waiting; returns the indexes of the locked ones.';

-- Until the transaction ends, no set is switched, and none is begun or abandoned.
create function private.hold_embedding_set(embedding_set smallint)
returns table (wanted smallint, live boolean, model text, building boolean)
language sql volatile rows 1 security invoker set search_path = ''
as $$
  select w.wanted, w.wanted = s.serving or s.other_state = 'building',
    case when w.wanted = s.serving then s.model else s.other_model end, s.other_state = 'building'
  from private.embedding_sets s
  cross join lateral (select coalesce(hold_embedding_set.embedding_set, s.serving) as wanted) w
  for share of s
$$;
comment on function private.hold_embedding_set is 'Locks the state of a set of chunks (null: the serving one) and returns it: whether it is serving or being built, its model if decided, and whether any set is being built.';

create function public.store_chunks(
  project_ids bigint[],
  ticket_ids bigint[],
  source_hashes text[],
  chunks jsonb,
  embeddings extensions.vector[],
  embedding_set smallint default null,
  comment_ids bigint[] default null
)
returns table (place bigint, stored boolean, embedding_ids uuid[])
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  target record;
  held bigint[]; -- sources
  held_places bigint[]; -- and their indexes in the arrays
  places bigint[]; -- of those to be stored
  waiting_jobs bigint[];
  ids uuid[];
begin
  select h.* into strict target from private.hold_embedding_set(store_chunks.embedding_set) h;
  -- A set only accepts vectors of its own model.
  if target.live and not exists (
    select 1 from jsonb_to_recordset(store_chunks.chunks) as g(chunk_id uuid, model text) where g.chunk_id is null and g.model <> target.model
  ) then
    select array_agg(h.place), array_agg(h.source_id) into held_places, held from private.hold_sources(project_ids, ticket_ids, comment_ids) h;
    -- Storing chunks ends the waiting jobs of their sources; see embedding_jobs. Locked now, so that
    -- no worker embeds the same. With two sets, storing into one ends no job: the worker ends it when
    -- both are complete.
    waiting_jobs := array(select private.lock_waiting_jobs(held));
  end if;
  if target.building then
    waiting_jobs := null;
  end if;

  ids := array(
    select coalesce(g.chunk_id, gen_random_uuid())
    from rows from (jsonb_to_recordset(store_chunks.chunks) as (chunk_id uuid)) with ordinality as g(chunk_id, place)
    order by g.place);
  -- Until the replaced chunks are deleted, new ones may have their positions.
  set constraints public.chunks_source_position_key deferred;
  insert into public.chunks (
    chunk_id, embedding_set, project_id, ticket_id, comment_id, status_change_id, kind, position, text, tokens, input_hash, model, embedding)
  select ids[g.place], target.wanted, project_ids[g.source], ticket_ids[g.source], comment_ids[g.source], g.status_change_id, g.kind, g.position, g.text, g.tokens,
    g.input_hash, g.model, store_chunks.embeddings[g.embedding]
  from rows from (jsonb_to_recordset(store_chunks.chunks) as (
      source bigint, chunk_id uuid, kind text, status_change_id bigint, position bigint,
      text text, tokens integer, input_hash text, model text, embedding integer)) with ordinality
    as g(source, chunk_id, kind, status_change_id, position, text, tokens, input_hash, model, embedding, place)
  where g.chunk_id is null and g.source = any (held_places);

  places := array(select l.place from private.lock_sources(project_ids, ticket_ids, comment_ids, held_places) l);
  -- A separate statement, whose snapshot includes every edit committed before the locks.
  places := array(
    select s.place from private.source_texts(project_ids, ticket_ids, comment_ids) s
    where s.place = any (places) and s.source_hash = source_hashes[s.place]);

  return query
  with given as materialized (
    select g.source, ids[g.place] as chunk_id, g.chunk_id is not null as kept, g.kind, g.status_change_id, g.position
    from rows from (jsonb_to_recordset(store_chunks.chunks) as (
        source bigint, chunk_id uuid, kind text, status_change_id bigint, position bigint)) with ordinality
      as g(source, chunk_id, kind, status_change_id, position, place)
  ), compared as materialized (
    -- Grouped instead of joined: with thousands of chunks on both sides a plan made for few would
    -- use a nested loop.
    select x.source, x.chunk_id, bool_or(x.wanted) as wanted, bool_or(x.is_there) as is_there
    from (
      select g.source, g.chunk_id, true as wanted, false as is_there from given g where g.source = any (places)
      union all
      select c.place, c.chunk_id, false, true from private.source_chunks(project_ids, ticket_ids, comment_ids, target.wanted) c
      where c.place = any (places)
    ) x
    group by x.source, x.chunk_id
  ), written as materialized (
    -- Another session may have replaced the chunks to keep.
    select h.place, h.source_id
    from unnest(held_places, held) as h(place, source_id)
    where h.place = any (places) and h.place not in (select c.source from compared c where c.wanted and not c.is_there)
  ), removed as (
    delete from public.chunks c using compared p, written w
    where c.chunk_id = p.chunk_id and p.source = w.place and not p.wanted
  ), undone as (
    delete from public.chunks c using given g
    where c.chunk_id = g.chunk_id and not g.kept and g.source not in (select w.place from written w)
  ), moved as (
    update public.chunks c
    set position = g.position, kind = coalesce(g.kind, c.kind), status_change_id = case when g.kind is null then c.status_change_id else g.status_change_id end
    from given g join written w on w.place = g.source
    where g.kept and c.chunk_id = g.chunk_id
      and (c.position <> g.position or g.kind is not null and (c.kind, c.status_change_id) is distinct from (g.kind, g.status_change_id))
  ), ended as (
    delete from private.embedding_jobs j using written w
    where j.embedding_job_id = any (waiting_jobs) and j.source_id = w.source_id
  )
  select a.place::bigint, w.place is not null,
    coalesce((select array_agg(g.chunk_id order by g.position) from given g where g.source = w.place), '{}')
  from generate_subscripts(project_ids, 1) as a(place)
  left join written w on w.place = a.place
  order by a.place;
  set constraints public.chunks_source_position_key immediate;
  perform private.count_chunks(held);
end
$$;
comment on function public.store_chunks is
  'Replaces the chunks of sources, given as for read_sources, in a set (by default the serving one) in one transaction, each source only if its text still has the fingerprint from read_sources. Otherwise stored is false: read it again. stored is also false if the set is neither serving nor being built, has another model, or while another session stores the source. chunks: [{source: position of the source in the arrays from 1, chunk_id of a stored chunk to keep or null, kind, status_change_id, position, text, tokens, input_hash, model, embedding: position of its vector in embeddings from 1}]. A kept chunk without a kind keeps its kind and note. Chunks not listed are deleted, and the waiting job of a stored source ends, unless a set is being built. Returns the ids of all chunks of each source, in order.';

insert into private.migrations (version) values ('20260101000800');
