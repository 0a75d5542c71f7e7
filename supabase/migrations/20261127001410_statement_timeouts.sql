-- Statement timeouts of their own for functions that store or queue much at once. A role's timeout
-- (8 s on Supabase) does not end them: PostgREST from version 12.2 applies the function's instead.

do $$
declare
  -- Less than what proxies usually wait for a response (Cloudflare: 100 s).
  storing constant text := '60s';
  stored text;
begin
  -- Only functions of the service: a user's call must not hold a connection that long. Not those of
  -- imports, which lock tickets: who edits them would wait.
  foreach stored in array array[
    'begin_reembed', 'clear_retired_set', 'enqueue_missing_embeddings', 'finish_reembed', 'measure_missing_embeddings',
    'store_chunks']
  loop
    execute format('alter function public.%I set statement_timeout = %L', stored, storing);
  end loop;
end
$$;

-- The role's timeout is too long to be waited for, and within a function with a timeout of its own
-- current_setting returns that one, whether it applies or not.
create function public.probe_statement_timeout() returns void
language plpgsql volatile security invoker set search_path = '' set statement_timeout = '100ms'
as $$
begin
  perform pg_sleep(0.4);
end
$$;
comment on function public.probe_statement_timeout is 'Fails with query_canceled after 100 ms if PostgREST applies the statement timeouts of functions; else takes 400 ms.';

insert into tasklens.migrations (version) values ('20261127001410');
