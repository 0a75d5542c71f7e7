-- Counts, groups and lists of tickets, for questions about their fields.

-- Security definer, because under row-level security neither the words nor lower() can use an
-- index. It reads only what the caller may see.
create function tasklens.tally_tickets(
  query_text text, filters jsonb, group_by text, period text, time_zone text, sort text, ascending boolean, list_limit integer,
  out count bigint, out groups jsonb, out listed bigint[]
)
language plpgsql stable security definer set search_path = '' set jit = off
as $$
declare
  scope constant tasklens.scope := tasklens.resolve_scope(filters);
  query constant tasklens.query := tasklens.parse_query(query_text, tasklens.languages_in(scope.projects));
  words tsquery; -- all of them, in one text or comment
  -- For callers who see some projects without the index on words: the time to read it would tell
  -- what the others hold.
  entries constant text := (select string_agg(format(
      'select e.ticket_id from (select x.ticket_id, x.words from public.%I x where x.ticket_id is not null%s) e where e.words @@ WORDS', source,
      case when tasklens.projects_as('viewer') is not null then ' and x.project_id = any (($1).projects) offset 0' end), ' union all ')
    from unnest('{keyword_entries,comment_entries}'::text[]) source);
  matching text;
  grouped record;
  spelling text; -- of the value by which tickets are grouped
  direction constant text := case when ascending then 'asc' else 'desc' end;
begin
  if sort is null or sort not in ('created', 'updated', 'resolved', 'due', 'size') then
    raise exception 'sort is "%"', left(sort, 40) using errcode = '22023', hint = 'Use created, updated, resolved, due or size.';
  elsif period is null or period not in ('day', 'week', 'month', 'quarter', 'year') then
    raise exception 'period is "%"', left(period, 40) using errcode = '22023', hint = 'Use day, week, month, quarter or year.';
  end if;
  select m.member, m.kind, m.source into grouped from tasklens.ticket_members m
  where group_by in (m.facet, m.member) and (m.facet is not null or m.kind in ('time', 'date'));
  if group_by is not null and not found then
    raise exception 'group_by is "%"', left(group_by, 40) using errcode = '22023',
      hint = (select format('Use %s.', string_agg(coalesce(m.facet, m.member), ', ')) from tasklens.ticket_members m);
  end if;
  count := 0;
  groups := '[]';
  listed := array[]::bigint[];
  if scope.is_empty then
    return;
  end if;

  words := (select string_agg(w.term, ' & ')::tsquery from tasklens.read_words(query.plain, query.languages) w);
  words := coalesce(words && query.required, words, query.required,
    (select string_agg(w.term, ' & ')::tsquery from tasklens.read_words(query.plain, query.languages, true) w));
  if words is null and query.plain ~ '\S' or exists (
    select from regexp_matches(query_text, '"([^"]*)"', 'g') m where m[1] ~ '\S' and tasklens.phrase(tasklens.compose_text(m[1]), query.languages) is null)
  then
    raise exception 'query_text is "%"', left(query_text, 40) using errcode = '22023', hint = 'Use words, numbers or signs such as emojis that a search can use.';
  end if;
  matching := scope.condition
    || case when words is not null then format(' and t.ticket_id in (%s)', replace(entries, 'WORDS', '$2')) else '' end
    || case when query.excluded is not null then format(' and t.ticket_id not in (%s)', replace(entries, 'WORDS', '$3')) else '' end
    || case when query.excluded_keys <> '{}' then ' and upper(t.key) <> all ($4)' else '' end
    || case when grouped.kind in ('time', 'date') then format(' and t.%I is not null', grouped.source) else '' end;
  execute format('select count(*) from (select from public.tickets t where %s limit 10001) m', matching)
    into count using scope, words, query.excluded, query.excluded_keys;
  execute format('select array(select t.ticket_id from public.tickets t where %s and t.%I is not null order by t.%2$I %s, t.ticket_id limit $5)',
    matching, case sort when 'due' then 'due_date' when 'size' then 'created_at' else sort || '_at' end, direction)
    into listed using scope, words, query.excluded, query.excluded_keys, list_limit;
  if group_by is null then
    return;
  end if;

  spelling := format(case grouped.kind
    when 'open' then '(select case s.category when ''done'' then ''done'' else ''open'' end from public.status s where s.status_id = t.status_id)'
    when 'labels' then 'l.name'
    when 'time' then 'left(date_trunc($5, t.%I at time zone $6)::date::text, $7)'
    when 'date' then 'left(date_trunc($5, t.%I)::date::text, $7)'
    else 't.%I::text' end, grouped.source);
  -- There are few distinct spellings, so each is folded once.
  execute format($query$
    with spelled as (
      select %1$s as spelling, count(*) as count from public.tickets t %2$s where %3$s group by 1
    ), folded as (
      select (array_agg(s.spelling order by s.count desc, s.spelling collate "C"))[1] as spelling, sum(s.count) as count from spelled s group by lower(s.spelling)
    ), labelled as (
      select case when %4$L = 'project' then to_jsonb(f.spelling::bigint) else to_jsonb(l.label) end as value, l.label, f.count,
        row_number() over (order by %6$s, l.label) as place
      from folded f cross join lateral (select %5$s as label) l
    )
    select coalesce(jsonb_agg(jsonb_build_object('value', l.value, 'label', l.label, 'count', l.count) order by l.place), '[]') from labelled l where l.place <= 100
    $query$,
    spelling, case when grouped.kind = 'labels' then 'cross join lateral (select distinct on (lower(u)) u as name from unnest(t.labels) u) l' end,
    matching, grouped.kind, case grouped.kind
      when 'status' then '(select s.name from public.status s where s.status_id = f.spelling::bigint)'
      when 'project' then '(select p.name from public.projects p where p.project_id = f.spelling::bigint)' else 'f.spelling' end,
    case when sort = 'size' then 'l.label is null, f.count ' || direction
      when grouped.kind in ('time', 'date') then 'l.label ' || direction
      else 'f.count desc' end)
    into groups using scope, words, query.excluded, query.excluded_keys, period, time_zone, case period when 'year' then 4 when 'month' then 7 else 10 end;
end
$$;
comment on function tasklens.tally_tickets is 'count_tickets, in what the caller may see; count is at most 10,001.';

create function public.count_tickets(
  query_text text default null,
  filters jsonb default null,
  group_by text default null,
  period text default 'month',
  time_zone text default 'UTC',
  sort text default 'created',
  ascending boolean default false,
  match_count integer default 10
)
returns table (count bigint, count_capped boolean, groups jsonb, tickets jsonb)
language sql stable rows 1 security invoker set search_path = '' set jit = off
as $$
  select least(c.count, 10000), c.count > 10000, c.groups, (
    select coalesce(jsonb_agg(tasklens.ticket_fields(t.ticket_id) || jsonb_build_object(
      'ticket_id', t.ticket_id, 'ticket_key', t.key, 'ticket_name', t.name, 'status', s.name, 'project_id', p.project_id, 'project_name', p.name,
      'changes', coalesce(nullif(array_remove(array[
        case when t.created_at >= d.day then 'created' end,
        case when exists (select from public.status_changes c where c.ticket_id = t.ticket_id and c.created_at >= d.day) then 'status' end,
        case when exists (select from public.comments m where m.ticket_id = t.ticket_id and m.created_at >= d.day) then 'comment' end], null), '{}'), '{field}'),
      'text', left(concat_ws(e'\n\n', t.name, nullif(coalesce(t.visible_text, t.description), '')), 2000)) order by l.place), '[]')
    from unnest(c.listed) with ordinality l(ticket_id, place)
    join public.tickets t using (ticket_id)
    cross join lateral (select date_trunc('day', t.updated_at, 'UTC') as day) d
    join public.projects p on p.project_id = t.project_id
    join public.status s on s.status_id = t.status_id)
  from tasklens.tally_tickets(
    count_tickets.query_text, count_tickets.filters, count_tickets.group_by, count_tickets.period, count_tickets.time_zone, count_tickets.sort,
    count_tickets.ascending, tasklens.clamp(match_count, 10, 1, 100)) c
$$;
comment on function public.count_tickets is
  'How many tickets pass the filters and contain all words of query_text, in their own text or one comment; quoted phrases and -word as in search_hybrid. At most 10,000 (count_capped: there are more). groups: their numbers by group_by, a facet (status, project, assignee …, the largest first) or created, updated, resolved or due by period (day, week, month, quarter, year; the latest first or, ascending, the earliest) in time_zone: [{value, label, count}], at most 100; label null: without a value; tickets without that date are not counted; sort size: the largest first or, ascending, the smallest. tickets: the first match_count (at most 100) by sort (created, updated, resolved, due; those without it are left out), the latest first or, ascending, the earliest; changes: what changed on the day (UTC) of updated_at (created, status, comment), else field.';

insert into tasklens.migrations (version) values ('20261127000830');
