-- The scope of a search: rows that pass its filters and that the caller may see.

-- projects, statuses: allowed ids, null for all. on_tickets: a filter on the status or another
-- ticket column exists, which excludes projects' own texts. condition: in SQL, of public.tickets t,
-- with the scope as the parameter $1; condition_of_one: for a ticket already fetched whose project
-- passes.
create type tasklens.scope as (
  projects bigint[], statuses bigint[], filters tasklens.filter[], on_tickets boolean, is_empty boolean, condition text, condition_of_one text
);

-- For searches in "security definer" functions. Under row-level security, operators that are not
-- leakproof (@@, %, ~) cannot use an index, and a policy applied after ranking would leave fewer
-- results than wanted. So the searches bypass the policies and read only what is in this scope.
create function tasklens.resolve_scope(filters jsonb) returns tasklens.scope
language plpgsql stable security invoker set search_path = ''
as $$
declare
  scope tasklens.scope;
  kinds text[]; -- of the filters
  conditions text; -- on the ticket itself
begin
  scope.projects := tasklens.projects_as('viewer');
  scope.filters := tasklens.read_filters(filters);
  kinds := array(select f.kind from unnest(scope.filters) f);
  if 'project' = any (kinds) then
    scope.projects := array(
      select p.project_id from public.projects p
      where (scope.projects is null or p.project_id = any (scope.projects)) and not exists (
        select from unnest(scope.filters) f
        where f.kind = 'project' and ('#' || p.project_id = any (f.names) or lower(p.key) = any (f.names)) = f.negated)
      order by p.project_id);
  end if;
  if kinds && '{status,open}' then
    scope.statuses := array(
      select s.status_id from public.status s
      where not exists (
        select from unnest(scope.filters) f
        where f.kind in ('status', 'open')
          and (case when f.kind = 'status' then lower(s.name) when s.category = 'done' then 'done' else 'open' end = any (f.names)) = f.negated)
      order by s.status_id);
  end if;
  scope.on_tickets := not kinds <@ '{project}';
  scope.is_empty := coalesce(cardinality(scope.projects) = 0, false) or coalesce(cardinality(scope.statuses) = 0, false);

  -- Built from constants: values come from the parameter $1, this scope. Only the filters in use,
  -- so that a plan for these values may use the indexes.
  conditions := concat_ws(' and ', case when scope.statuses is not null then 't.status_id = any (($1).statuses)' end, (
    select string_agg(format(case when f.negated then '(%s) is not true' else '(%s)' end, case
      when f.kind in ('person', 'text') then concat_ws(' or ',
        case when array_position(f.names, null) is not null then format('lower(t.%I) is null', f.source) end,
        case when array_remove(f.names, null) <> '{}' then format('lower(t.%I) = any (%s.names)', f.source, e.value) end)
      when f.kind = 'labels' then concat_ws(' and ',
        case when f.names is not null then format('%s && %s.names', e.labels, e.value) end,
        case when f.all_names is not null then format('%s @> %s.all_names', e.labels, e.value) end)
      when f.kind in ('time', 'date') then concat_ws(' and ',
        case when f.start is not null then format('t.%I >= ' || e.moment, f.source, e.value, 'start') end,
        case when f.stop is not null then format('t.%I < ' || e.moment, f.source, e.value, 'stop') end)
      end), ' and ')
    from unnest(scope.filters) with ordinality f
    cross join lateral (
      select format('((($1).filters)[%s])', f.ordinality) as value,
        case when f.negated then 'lower(t.labels::text)::text[]' else 'tasklens.fold_labels(t.labels)' end as labels,
        case f.kind when 'date' then '(%s.%s at time zone ''UTC'')::date' else '%s.%s' end as moment) e
    where f.kind not in ('project', 'status', 'open')));
  scope.condition := coalesce(
    nullif(concat_ws(' and ', case when scope.projects is not null then 't.project_id = any (($1).projects)' end, nullif(conditions, '')), ''), 'true');
  -- Without the index, a call of the function would cost more than everything else.
  scope.condition_of_one := coalesce(nullif(replace(conditions, 'tasklens.fold_labels(t.labels)', 'lower(t.labels::text)::text[]'), ''), 'true');
  return scope;
end
$$;
comment on function tasklens.resolve_scope is
  'The filters and the projects that the caller may see, with names resolved to ids, and whether nothing can match. Invalid filters are an error (22023).';

create function tasklens.passing_tickets(scope tasklens.scope, ticket_ids bigint[]) returns bigint[]
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  passing bigint[];
begin
  if coalesce(cardinality(ticket_ids), 0) = 0 or scope.projects is null and not scope.on_tickets then
    return ticket_ids;
  end if;
  execute format('select array(select t.ticket_id from public.tickets t where t.ticket_id = any ($2) and %s order by array_position($2, t.ticket_id))',
    scope.condition) into passing using scope, ticket_ids;
  return passing;
end
$$;
comment on function tasklens.passing_tickets is 'Those of some tickets that are in a scope, in their order.';

-- Called first, so that an error comes without the queries beneath as its context. The older
-- arguments project_filter and status_filter become members of filters here.
create function tasklens.check_arguments(
  filters jsonb,
  query_embedding extensions.vector default null,
  embedding_model text default null,
  dimensions integer default 1536,
  fusion text default 'rrf',
  sort text default 'relevance',
  project_filter bigint default null,
  status_filter text default null
)
returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  -- PostgREST does not pass notices on.
  by_hand constant boolean := coalesce(current_setting('request.method', true), '') = '';
  advice text;
begin
  if filters is not null then
    begin
      perform tasklens.read_filters(filters);
    exception when invalid_parameter_value then -- without its context
      get stacked diagnostics advice = pg_exception_hint;
      raise exception using errcode = '22023', message = sqlerrm, hint = advice;
    end;
  end if;
  if fusion not in ('rrf', 'convex') then
    raise exception 'fusion is "%"', left(fusion, 40) using errcode = '22023', hint = 'Use rrf or convex.';
  elsif sort not in ('relevance', 'newest', 'updated') then
    raise exception 'sort is "%"', left(sort, 40) using errcode = '22023', hint = 'Use relevance, newest or updated.';
  elsif query_embedding is not null and embedding_model is null and dimensions = 1536 then
    raise exception 'query_embedding is given without embedding_model' using errcode = '22023',
      hint = 'Name the model that made it: ' || coalesce('the stored chunks are of "' || tasklens.serving_model() || '".', 'nothing is embedded yet.');
  elsif extensions.vector_dims(query_embedding) <> dimensions then
    raise exception 'query_embedding has % numbers, not %', extensions.vector_dims(query_embedding), dimensions using errcode = '22000',
      hint = case dimensions when 1536 then 'Add zeros to the vector of a model that gives fewer.' else 'Vectors of documents have 768: the first ones of a longer vector.' end;
  -- Nearly always, the first chunks are of this model. A user's policies would make that slow.
  elsif by_hand and dimensions = 1536 and query_embedding is not null and tasklens.is_unrestricted()
    and not exists (select from (select c.model from public.chunks c limit 100) c where c.model = check_arguments.embedding_model)
    and tasklens.serving_model() <> embedding_model
  then
    raise notice using message = format('most chunks are of the model "%s", not "%s"', tasklens.serving_model(), embedding_model),
      hint = 'Only chunks of embedding_model are compared. Pass an embedding by the stored model, and its name.';
  end if;
  -- No id is an error here, and no name too long: neither has anything.
  return nullif(
    case jsonb_typeof(filters) when 'object' then jsonb_build_array(filters) when 'array' then filters else '[]' end
      || case when project_filter is null then '[]' else jsonb_build_array(jsonb_build_object('projects', '#' || project_filter)) end
      || case when tasklens.filter_text(status_filter) is null then '[]' else
        jsonb_build_array(jsonb_build_object('statuses', left(tasklens.filter_text(status_filter), 255))) end,
    '[]');
end
$$;
comment on function tasklens.check_arguments is
  'The filters of a search as a list, null if there are none. Fails for arguments of a search that are of a wrong shape: 22023, and 22000 for a vector of another width. A model that most chunks do not have is a notice, because a keyword search may follow.';

insert into tasklens.migrations (version) values ('20261127000510');
