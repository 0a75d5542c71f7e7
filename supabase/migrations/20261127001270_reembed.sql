-- Changes the model or the chunking without interrupting search: workers fill the other set, after
-- fresh edits, and when it is complete it becomes the serving set atomically. Edits meanwhile go
-- into both sets: a job ends when both are up to date.

create function public.begin_reembed(embedding_model text, chunking integer)
returns bigint
language plpgsql volatile security invoker set search_path = '' set statement_timeout = '60s'
as $$
declare
  sets tasklens.embedding_sets;
  added bigint;
begin
  -- Waits for chunks being stored. Later stores see that there are two sets.
  select s.* into strict sets from tasklens.embedding_sets s for update;
  if sets.other_state = 'retired' then
    raise exception 'the set that served before is not emptied yet' using errcode = 'object_not_in_prerequisite_state', hint = 'call clear_retired_set';
  elsif sets.other_state = 'building' and (sets.other_model, sets.other_chunking) is distinct from (begin_reembed.embedding_model, begin_reembed.chunking) then
    raise exception 'another set is being built, by % with chunking %', sets.other_model, sets.other_chunking
      using errcode = 'object_not_in_prerequisite_state', hint = 'finish it, or call abandon_reembed';
  elsif sets.other_state = 'unused' then
    update tasklens.embedding_sets s
    set other_state = 'building', other_model = begin_reembed.embedding_model, other_chunking = begin_reembed.chunking, began_at = clock_timestamp(),
      model = coalesce(s.model, (
        select mode() within group (order by x.models[s.serving]) from tasklens.sources x where x.document_id is null), begin_reembed.embedding_model);
  end if;
  added := public.enqueue_missing_embeddings(begin_reembed.embedding_model, false, (3 - sets.serving)::smallint);
  -- After everything was queued; see finish_reembed.
  update tasklens.embedding_sets s set began_at = clock_timestamp();
  return added;
end
$$;
comment on function public.begin_reembed is
  'Begins or resumes building a set: queues, after fresh edits, every source that has a text and is not in it. Search continues with the current set.';

create function public.finish_reembed()
returns boolean
language plpgsql volatile security invoker set search_path = '' set statement_timeout = '60s'
as $$
declare
  sets tasklens.embedding_sets;
begin
  -- Jobs queued when building began, or failed since. Waiting fresh edits do not count: they are as
  -- late for one set as for the other, and a busy tracker would never switch.
  if exists (
    select 1
    from tasklens.embedding_sets s
    cross join tasklens.embedding_jobs j
    join tasklens.sources x using (source_id)
    where x.document_id is null and (j.requested_at <= s.began_at or j.attempts > 0 and j.lease_id is null)
      and (j.dead_at is null or x.chunks[s.serving] > 0)
  ) then
    return false;
  end if;
  select s.* into strict sets from tasklens.embedding_sets s for update;
  if sets.other_state <> 'building' then
    raise exception 'no set is being built' using errcode = 'object_not_in_prerequisite_state', hint = 'call begin_reembed';
  end if;
  if exists (
    select m.source_id from tasklens.missing_sources(null, false, (3 - sets.serving)::smallint) m
    except
    select m.source_id from tasklens.missing_sources(null, false, sets.serving) m
  ) then
    return false;
  end if;
  update tasklens.embedding_sets s
  set serving = 3 - s.serving, model = s.other_model, chunking = s.other_chunking,
    other_state = 'retired', other_model = s.model, other_chunking = s.chunking, began_at = null;
  return true;
end
$$;
comment on function public.finish_reembed is
  'Switches atomically to the new set if it has everything that the serving set has; else returns false.';

create function public.abandon_reembed()
returns boolean
language sql volatile security invoker set search_path = ''
as $$
  with abandoned as (
    update tasklens.embedding_sets s
    set other_state = 'retired', other_model = null, other_chunking = null, began_at = null
    where s.other_state = 'building'
    returning 1
  )
  select exists (select 1 from abandoned)
$$;
comment on function public.abandon_reembed is 'Abandons the set being built; clear_retired_set then empties it. False if there is none.';

create function public.clear_retired_set(after uuid default null, row_limit integer default 1000)
returns uuid
language plpgsql volatile security invoker set search_path = '' set statement_timeout = '60s'
as $$
declare
  retired smallint;
  last uuid;
begin
  update tasklens.embedding_sets s set other_model = null, other_chunking = null
  where s.other_state = 'retired' and s.other_model is not null;
  -- Until this transaction ends, no other set is begun. store_chunks takes the same lock, without
  -- waiting.
  select 3 - s.serving into retired from tasklens.embedding_sets s where s.other_state = 'retired' for share;
  if retired is null then
    return null;
  end if;
  -- In order of the primary key, so that all calls together read the table once.
  with part as materialized (
    select c.chunk_id, c.embedding_set from public.chunks c
    where clear_retired_set.after is null or c.chunk_id > clear_retired_set.after
    order by c.chunk_id limit tasklens.clamp(row_limit, 1000, 1, 10000)
  ), free as materialized (
    -- An open transaction that deletes a ticket locks its chunks.
    select c.chunk_id from public.chunks c
    where c.chunk_id in (select p.chunk_id from part p where p.embedding_set = retired)
    for update skip locked
  ), removed as (
    delete from public.chunks c using free f where c.chunk_id = f.chunk_id
  )
  select p.chunk_id into last from part p order by p.chunk_id desc limit 1;
  if last is not null then
    return last;
  elsif not pg_try_advisory_xact_lock(hashtext('tasklens.clear_retired_set'))
    or exists (select from public.chunks c where c.embedding_set = retired) then
    return '00000000-0000-0000-0000-000000000000'::uuid;
  end if;
  perform tasklens.count_chunks(array(select s.source_id from tasklens.sources s where s.chunks[retired] > 0));
  update tasklens.embedding_sets s set other_state = 'unused' where s.other_state = 'retired';
  return null;
end
$$;
comment on function public.clear_retired_set is
  'Empties the retired or abandoned set, up to row_limit chunks (at most 10,000) per call: pass the previous result until it returns null. The nil UUID starts over, for chunks that open transactions locked.';

insert into tasklens.migrations (version) values ('20261127001270');
