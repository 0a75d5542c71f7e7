-- What every stored value obeys, so that every response is bounded, and times are those that JSON
-- and its readers can hold. A name of a constraint says what is wrong and in which column.

create function tasklens.are_names(names jsonb) returns boolean
language sql immutable security invoker set search_path = ''
as $$
  select length(are_names.names::text) <= 50000
    and not exists (select from jsonb_path_query(are_names.names, 'lax $[*].**') n where length(n #>> '{}') > 1000 and jsonb_typeof(n) = 'string')
$$;
comment on function tasklens.are_names is 'Whether a list of labels, keywords or entities has names of at most 1,000 characters each, and at most 50,000 as JSON.';

do $$
declare
  rule record;
begin
  for rule in
    select v.on_table, v.name, 'at_most_1000_characters' as means, 'length(%I) <= 1000' as condition
    from (values ('projects', 'name'), ('tickets', 'name'), ('tickets', 'assignee'), ('tickets', 'reporter'), ('tickets', 'ticket_type'),
      ('tickets', 'priority'), ('comments', 'author')) v(on_table, name)
    union all
    select v.*, 'at_most_1000_characters_50000_in_all', 'tasklens.are_names(to_jsonb(%I))'
    from (values ('tickets', 'labels'), ('documents', 'keywords'), ('documents', 'named_entities')) v(on_table, name)
    union all
    -- As much as a file of notes may have; an API's request has less.
    select 'documents', 'content', 'at_most_4194304_characters', 'length(%I) <= 4194304'
    union all
    select c.relname, a.attname, 'in_years_1_to_9999', case a.atttypid when 'date'::regtype then '%I between ''0001-01-01'' and ''9999-12-31'''
      else '%I >= ''0001-01-01 00:00Z'' and %I < ''9999-12-31 24:00Z''' end
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('date'::regtype, 'timestamptz'::regtype)
  loop
    execute format('alter table public.%I add constraint %I check (' || replace(rule.condition, '%I', '%3$I') || ')',
      rule.on_table, concat_ws('_', rule.on_table, rule.name, rule.means), rule.name);
  end loop;
end
$$;

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
