-- The scope of a search: rows that pass its filters and that the caller may see.

-- projects, statuses: allowed ids, null for all. on_tickets: a filter on the status or another
-- ticket column exists, which excludes projects' own texts. condition: in SQL, of public.tickets t,
-- with the scope as the parameter $1; condition_of_one: for a ticket already fetched whose project
-- passes.
create type private.scope as (
  projects bigint[], statuses bigint[], filters private.filter[], on_tickets boolean, is_empty boolean, condition text, condition_of_one text
);
comment on type private.scope is 'The scope of a search: rows that pass its filters and that the caller may see.';

-- For searches in "security definer" functions. Under row-level security, operators that are not
-- leakproof (@@, %, ~) cannot use an index, and a policy applied after ranking would leave fewer
-- results than wanted. So the searches bypass the policies and read only what is in this scope.
create function private.resolve_scope(project_filter bigint, status_filter text, filters jsonb) returns private.scope
language plpgsql stable security invoker set search_path = ''
as $$
declare
  scope private.scope;
  kinds text[]; -- of the filters
begin
  scope.projects := private.visible_projects();
  if project_filter is not null then
    scope.projects := case when scope.projects is null or project_filter = any (scope.projects) then array[project_filter] else '{}' end;
  end if;
  scope.filters := private.read_filters(filters);
  status_filter := private.filter_text(status_filter);
  if status_filter is not null then
    scope.filters := scope.filters || row('status', 'status_id', false, array[lower(status_filter)], null, null, null, null)::private.filter;
  end if;
  kinds := array(select f.kind from unnest(scope.filters) f);
  if 'project' = any (kinds) then
    scope.projects := array(
      select p.project_id from public.projects p
      where (scope.projects is null or p.project_id = any (scope.projects)) and not exists (
        select from unnest(scope.filters) f
        where f.kind = 'project' and (p.project_id = any (f.ids) or upper(p.key) = any (f.names)) = f.negated)
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
  scope.condition := private.scope_condition(scope, false);
  scope.condition_of_one := private.scope_condition(scope, true);
  return scope;
end
$$;
comment on function private.resolve_scope is
  'Resolves the filters and the projects that the caller may see, with names resolved to ids, and whether nothing can match. Invalid filters are an error (22023).';

-- The text is built from constants: values come from the parameter $1, a private.scope. It contains
-- only the filters in use, so that a plan for these values may use the indexes. of_one: see
-- private.scope. There, and without an index, labels are folded inline, because a function call
-- would cost more than everything else.
create function private.scope_condition(scope private.scope, of_one boolean) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return (
    select coalesce(string_agg(c.condition, ' and '), 'true')
    from (
      select 't.project_id = any (($1).projects)' as condition where scope.projects is not null and not of_one
      union all
      select 't.status_id = any (($1).statuses)' where scope.statuses is not null
      union all
      select format(case when f.negated then '(%s) is not true' else '(%s)' end, case
        when f.kind in ('person', 'text') then concat_ws(' or ',
          case when array_position(f.names, null) is not null then format('lower(t.%I) is null', f.source) end,
          case when array_remove(f.names, null) <> '{}' then format('lower(t.%I) = any (%s.names)', f.source, e.value) end)
        when f.kind = 'labels' then concat_ws(' and ',
          case when f.names is not null then format('%s && %s.names', e.labels, e.value) end,
          case when f.all_names is not null then format('%s @> %s.all_names', e.labels, e.value) end)
        when f.kind in ('time', 'date') then concat_ws(' and ',
          case when f.start is not null then format('t.%I >= ' || e.moment, f.source, e.value, 'start') end,
          case when f.stop is not null then format('t.%I < ' || e.moment, f.source, e.value, 'stop') end)
        end)
      from unnest(scope.filters) with ordinality f
      cross join lateral (
        select format('((($1).filters)[%s])', f.ordinality) as value,
          case when of_one or f.negated then 'lower(t.labels::text)::text[]' else 'private.fold_labels(t.labels)' end as labels,
          case f.kind when 'date' then '(%s.%s at time zone ''UTC'')::date' else '%s.%s' end as moment) e
      where f.kind not in ('project', 'status', 'open')
    ) c);
end
$$;
comment on function private.scope_condition is 'The SQL condition on public.tickets t that a ticket is in a scope, the parameter $1.';

-- If most tickets pass, counting up to a limit of thousands takes longer than the search. A fixed
-- sample of 100 tickets shows whether far more than the limit pass. A wrong guess costs time, not
-- results.
create function private.is_broad(scope private.scope, ticket_limit integer) returns boolean
language plpgsql stable security invoker set search_path = ''
as $$
declare
  sampled constant integer := 100;
  first bigint;
  span bigint;
  passing bigint;
begin
  select min(t.ticket_id), max(t.ticket_id) - min(t.ticket_id) + 1 into first, span from public.tickets t;
  if (span > 2.0 * ticket_limit) is not true then
    return false;
  end if;
  execute format('select count(*) from unnest($2) as u(ticket_id) where (
      select %s from public.tickets t where t.ticket_id = u.ticket_id and (($1).projects is null or t.project_id = any (($1).projects)))',
    scope.condition_of_one)
    into passing
    using scope, array(select first + (hashint8extended(i, 0) % span + span) % span from generate_series(1, sampled) i);
  return passing >= 10 and passing * span::double precision / sampled > 2.0 * ticket_limit;
end
$$;
comment on function private.is_broad is 'Whether, by a sample, more than twice as many tickets as the limit are in a scope.';

create function private.passing_tickets(scope private.scope, ticket_ids bigint[]) returns bigint[]
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  passing bigint[];
begin
  if scope.projects is null and not scope.on_tickets then
    return ticket_ids;
  end if;
  execute format('select array(select t.ticket_id from public.tickets t where t.ticket_id = any ($2) and %s order by array_position($2, t.ticket_id))',
    scope.condition) into passing using scope, ticket_ids;
  return passing;
end
$$;
comment on function private.passing_tickets is 'Those of some tickets that are in a scope, in their order.';

insert into private.migrations (version) values ('20260101000950');
