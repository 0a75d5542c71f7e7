-- The scope of a search: rows that pass its filters and that the caller may see.

-- projects, statuses: allowed ids, null for all. on_tickets: a filter on the status or another
-- ticket column exists, which excludes projects' own texts.
create type private.scope as (
  projects bigint[], statuses bigint[], passing private.filter_values, barred private.filter_values, on_tickets boolean, is_empty boolean
);
comment on type private.scope is 'The scope of a search: rows that pass its filters and that the caller may see.';

-- For searches in "security definer" functions. Under row-level security, operators that are not
-- leakproof (@@, %, ~) cannot use an index, and a policy applied after ranking would leave fewer
-- results than wanted. So the searches bypass the policies and read only what is in this scope.
create function private.resolve_scope(project_filter bigint, status_filter text, filters jsonb) returns private.scope
language plpgsql stable security invoker set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
  has_filters constant boolean := coalesce(jsonb_typeof(filters), 'null') <> 'null';
  read constant private.filters := private.read_filters(filters);
  passing private.filter_values;
  barred private.filter_values;
  scope private.scope;
begin
  scope.projects := case
    when project_filter is null then visible
    when visible is null or project_filter = any (visible) then array[project_filter]
    else array[]::bigint[] end;
  status_filter := private.filter_text(status_filter);
  scope.on_tickets := status_filter is not null;
  if status_filter is not null and not has_filters then
    scope.statuses := array(select s.status_id from public.status s where lower(s.name) = lower(status_filter));
  end if;
  if has_filters then
    passing := read.passing;
    barred := read.barred;
    scope.passing := passing;
    scope.barred := barred;
    if passing.project_keys is not null or barred.project_keys is not null then
      scope.projects := array(
        select p.project_id from public.projects p
        where (scope.projects is null or p.project_id = any (scope.projects))
          and (passing.project_keys is null or p.project_id = any (passing.project_ids) or upper(p.key) = any (passing.project_keys))
          and (p.project_id = any (barred.project_ids) or upper(p.key) = any (barred.project_keys)) is not true
        order by p.project_id);
    end if;
    if status_filter is not null or passing.statuses is not null or passing.open is not null or barred.statuses is not null then
      scope.statuses := array(
        select s.status_id from public.status s
        where (status_filter is null or lower(s.name) = lower(status_filter))
          and (passing.statuses is null or lower(s.name) = any (passing.statuses))
          and (passing.open is null or (s.category <> 'done') = passing.open)
          and (lower(s.name) = any (barred.statuses)) is not true
        order by s.status_id);
    end if;
    scope.on_tickets := private.scope_condition(scope, true) <> 'true';
  end if;
  scope.is_empty := coalesce(cardinality(scope.projects) = 0, false) or coalesce(cardinality(scope.statuses) = 0, false);
  return scope;
end
$$;
comment on function private.resolve_scope is
  'Resolves the filters and the projects that the caller may see, with names resolved to ids, and whether nothing can match. Invalid filters are an error (22023).';

-- One condition per filter in use. values_in: the expression of the values; labels: that of a
-- ticket's folded labels.
create function private.value_conditions(filter private.filter_values, values_in text, labels text) returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return array(
    select format(c.condition, values_in, labels)
    from (values
      (filter.assignees is not null and filter.unassigned, '(lower(t.assignee) is null or lower(t.assignee) = any (%1$s.assignees))'),
      (filter.assignees is not null and not filter.unassigned, 'lower(t.assignee) = any (%1$s.assignees)'),
      (filter.assignees is null and filter.unassigned, 'lower(t.assignee) is null'),
      (filter.reporters is not null and filter.unreported, '(lower(t.reporter) is null or lower(t.reporter) = any (%1$s.reporters))'),
      (filter.reporters is not null and not filter.unreported, 'lower(t.reporter) = any (%1$s.reporters)'),
      (filter.reporters is null and filter.unreported, 'lower(t.reporter) is null'),
      (filter.types is not null, 'lower(t.ticket_type) = any (%1$s.types)'),
      (filter.priorities is not null, 'lower(t.priority) = any (%1$s.priorities)'),
      (filter.any_labels is not null and filter.all_labels is not null, '(%2$s && %1$s.any_labels and %2$s @> %1$s.all_labels)'),
      (filter.any_labels is not null and filter.all_labels is null, '%2$s && %1$s.any_labels'),
      (filter.any_labels is null and filter.all_labels is not null, '%2$s @> %1$s.all_labels'),
      (filter.created_from is not null and filter.created_before is not null, '(t.created_at >= %1$s.created_from and t.created_at < %1$s.created_before)'),
      (filter.created_from is not null and filter.created_before is null, 't.created_at >= %1$s.created_from'),
      (filter.created_from is null and filter.created_before is not null, 't.created_at < %1$s.created_before'),
      (filter.updated_from is not null and filter.updated_before is not null, '(t.updated_at >= %1$s.updated_from and t.updated_at < %1$s.updated_before)'),
      (filter.updated_from is not null and filter.updated_before is null, 't.updated_at >= %1$s.updated_from'),
      (filter.updated_from is null and filter.updated_before is not null, 't.updated_at < %1$s.updated_before'),
      (filter.due_from is not null and filter.due_before is not null, '(t.due_date >= %1$s.due_from and t.due_date < %1$s.due_before)'),
      (filter.due_from is not null and filter.due_before is null, 't.due_date >= %1$s.due_from'),
      (filter.due_from is null and filter.due_before is not null, 't.due_date < %1$s.due_before')
    ) c(is_there, condition)
    where c.is_there);
end
$$;
comment on function private.value_conditions is 'SQL conditions on public.tickets t, one per filter. Values stay parameters.';

-- The text is built from constants: values come from the parameter $1, a private.scope. It contains
-- only the filters in use, so that a plan for these values may use the indexes. of_one: for a
-- ticket already fetched whose project passes. There, and without an index, labels are folded
-- inline, because a function call would cost more than everything else.
create function private.scope_condition(scope private.scope, of_one boolean) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  folded constant text := 'lower(t.labels::text)::text[]';
  conditions text[] := array[]::text[];
begin
  if scope.projects is not null and not of_one then
    conditions := conditions || 't.project_id = any (($1).projects)'::text;
  end if;
  if scope.statuses is not null then
    conditions := conditions || 't.status_id = any (($1).statuses)'::text;
  end if;
  conditions := conditions || private.value_conditions(
    scope.passing, '(($1).passing)', case when of_one then folded else 'private.fold_labels(t.labels)' end) || array(
    select format('(%s) is not true', b) from unnest(private.value_conditions(scope.barred, '(($1).barred)', folded)) b);
  return coalesce(nullif(array_to_string(conditions, ' and '), ''), 'true');
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
    private.scope_condition(scope, true))
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
    private.scope_condition(scope, false)) into passing using scope, ticket_ids;
  return passing;
end
$$;
comment on function private.passing_tickets is 'Those of some tickets that are in a scope, in their order.';

insert into private.migrations (version) values ('20260101000950');
