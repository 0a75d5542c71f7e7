-- Deletes chunks that were staged and never shown, because the source did not change or the client
-- never finished.

create function public.sweep_staged_chunks(row_limit integer default 500)
returns bigint
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  stale bigint[];
  swept bigint;
  swept_documents bigint;
begin
  stale := array(
    select g.generation from private.staged_generations g
    where g.staged_at < clock_timestamp() - interval '1 day'
    for update skip locked);
  if stale = '{}' then
    return 0;
  end if;
  with part as materialized (
    select c.chunk_id from public.chunks c where c.generation = any (stale) limit private.clamp(row_limit, 500, 1, 10000)
  )
  delete from public.chunks c using part p where c.chunk_id = p.chunk_id;
  get diagnostics swept = row_count;
  with part as materialized (
    select c.chunk_id from public.document_chunks c where c.generation = any (stale) limit private.clamp(row_limit, 500, 1, 10000)
  )
  delete from public.document_chunks c using part p where c.chunk_id = p.chunk_id;
  get diagnostics swept_documents = row_count;
  -- Deleting a generation makes its remaining chunks visible.
  delete from private.staged_generations g
  where g.generation = any (stale) and not exists (select 1 from public.chunks c where c.generation = g.generation)
    and not exists (select 1 from public.document_chunks c where c.generation = g.generation);
  return swept + swept_documents;
end
$$;
comment on function public.sweep_staged_chunks is
  'Deletes chunks that were staged more than a day ago and never shown, at most row_limit (10,000) of tickets and as many of documents. Call it until it returns 0. Returns the number deleted.';

insert into private.migrations (version) values ('20260101003036');
