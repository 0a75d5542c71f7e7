-- Under random filters, keyword and vector search return the best tickets that pass, compared with
-- a simple implementation of filters.

begin;
select plan(8);
select setseed(0.2);

insert into public.status (status_id, name, category) values (1, 'To Do', 'to_do'), (2, 'In Progress', 'in_progress'), (3, 'Review', 'in_progress'), (4, 'Done', 'done');
insert into public.projects (project_id, key, name) select i, 'P' || i, 'Project' from generate_series(1, 40) i;
-- Some people, types and labels are common and some rare; every fourth value is missing.
create function pg_temp.chance(seed bigint, place integer) returns double precision
language sql immutable as $$ select hashint8extended(seed, place) / 18446744073709551616.0 + 0.5 $$;
create function pg_temp.one_of(names text[], at double precision) returns text
language sql immutable as $$ select (names || null::text) [1 + floor(at ^ 2 * (cardinality(names) + 1))::integer] $$;
insert into public.tickets (ticket_id, project_id, status_id, name, description, assignee, reporter, ticket_type, priority, labels, due_date, created_at, updated_at)
select i, 1 + floor(40 * pg_temp.chance(i, 1) ^ 2)::integer, 1 + floor(4 * pg_temp.chance(i, 2))::integer,
  concat_ws(' ', 'Pump', case when i % 3 = 0 then 'leaks' end, case when i % 7 = 0 then 'valve' end, i), case when i % 5 = 0 then 'the valve leaks and hums' end,
  pg_temp.one_of('{Ada,ADA,Bo,Cy,Dee,Eve}', pg_temp.chance(i, 3)), pg_temp.one_of('{Ada,Bo,Cy}', pg_temp.chance(i, 4)),
  pg_temp.one_of('{Bug,bug,Task,Story}', pg_temp.chance(i, 5)), pg_temp.one_of('{High,Low}', pg_temp.chance(i, 6)),
  array_remove(array[case when pg_temp.chance(i, 7) < 0.5 then 'iOS' end, case when pg_temp.chance(i, 8) < 0.1 then 'Web' end, case when pg_temp.chance(i, 9) < 0.01 then 'rare' end], null),
  case when pg_temp.chance(i, 10) < 0.5 then '2025-01-01'::date + (365 * pg_temp.chance(i, 11))::integer end,
  '2025-01-01'::timestamptz + pg_temp.chance(i, 12) * interval '365 days', '2025-06-01'::timestamptz + pg_temp.chance(i, 13) * interval '365 days'
from generate_series(1, 1200) i;
create function pg_temp.point(seed bigint) returns extensions.vector
language sql immutable as $$
  select extensions.l2_normalize((array_agg(pg_temp.chance(seed, 100 + i) - 0.3 order by i) || array_fill(0::double precision, array[1536 - 24]))::extensions.vector) from generate_series(1, 24) i
$$;
\ir kit/indexes.sql
select pg_temp.fill('public.chunks_embedding_idx', $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.point(t.ticket_id) from public.tickets t $$);
analyze public.chunks;
analyze public.tickets;
analyze public.keyword_entries;
\ir kit/actors.sql
insert into public.project_members (project_id, user_id) select p, a.user_id from actors a, generate_series(20, 24) p where a.name = 'viewer';

-- A simple implementation of filters, member by member and value by value.
create function pg_temp.has(name text, list jsonb) returns boolean
language sql as $$
  select coalesce(bool_or(x.item is null and has.name is null or lower(x.item) = lower(has.name)), false) from jsonb_array_elements_text(list) as x(item)
$$;
create function pg_temp.within(at timestamptz, range jsonb) returns boolean
language sql as $$
  select at is not null and (range ->> 'from' is null or (at at time zone 'UTC')::date >= (range ->> 'from')::date) and (range ->> 'to' is null or (at at time zone 'UTC')::date <= (range ->> 'to')::date)
$$;
create function pg_temp.holds(t public.tickets, member text, wanted jsonb) returns boolean
language plpgsql as $$
begin
  return case member
    when 'projects' then pg_temp.has('P' || t.project_id, wanted)
    when 'statuses' then pg_temp.has((array['To Do', 'In Progress', 'Review', 'Done']) [t.status_id], wanted)
    when 'open' then (t.status_id < 4) = wanted::boolean
    when 'assignee' then pg_temp.has(t.assignee, wanted)
    when 'reporter' then pg_temp.has(t.reporter, wanted)
    when 'types' then t.ticket_type is not null and pg_temp.has(t.ticket_type, wanted)
    when 'priorities' then t.priority is not null and pg_temp.has(t.priority, wanted)
    when 'labels' then (not wanted ? 'any' or exists (select from unnest(t.labels) l where pg_temp.has(l, wanted -> 'any')))
      and (not wanted ? 'all' or not exists (select from jsonb_array_elements_text(wanted -> 'all') w where lower(w) <> all (array(select lower(l) from unnest(t.labels) l))))
    when 'created' then pg_temp.within(t.created_at, wanted)
    when 'updated' then pg_temp.within(t.updated_at, wanted)
    when 'due' then pg_temp.within(t.due_date::timestamp at time zone 'UTC', wanted) end;
end
$$;
create function pg_temp.passes(t public.tickets, filters jsonb) returns boolean
language plpgsql as $$
declare
  m record;
begin
  for m in select * from jsonb_each(filters) loop
    if m.key = 'not' then
      if exists (select from jsonb_each(m.value) b where pg_temp.holds(t, b.key, b.value)) then
        return false;
      end if;
    elsif not pg_temp.holds(t, m.key, m.value) then
      return false;
    end if;
  end loop;
  return true;
end
$$;

-- Up to three random filters, and sometimes one or two under "not".
create function pg_temp.some(names text[]) returns jsonb
language sql as $$ select jsonb_agg(n order by n) from (select n from unnest(names) n order by random() limit 1 + floor(2 * random())::integer) x $$;
create function pg_temp.range(start date) returns jsonb
language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('from', f.day, 'to', case when random() < 0.7 then f.day + floor(200 * random())::integer end))
  from (select start + floor(250 * random())::integer as day) f
$$;
create function pg_temp.filter(count integer, members text[]) returns jsonb
language sql as $$
  select coalesce(jsonb_object_agg(m.member, case m.member
    when 'projects' then pg_temp.some('{P1,p2,P3,P20,P23,P39}') when 'statuses' then pg_temp.some('{to do,In progress,REVIEW,done,none such}')
    when 'open' then to_jsonb(random() < 0.7) when 'assignee' then pg_temp.some('{ada,Bo,cy,Dee,Eve,NULL}') when 'reporter' then pg_temp.some('{Ada,bo,Cy,NULL}')
    when 'types' then pg_temp.some('{bug,Task,story,Epic}') when 'priorities' then pg_temp.some('{high,Low}')
    when 'labels' then case when random() < 0.6 then jsonb_build_object('any', pg_temp.some('{ios,web,Rare}')) else jsonb_build_object('all', pg_temp.some('{iOS,Web}')) end
    when 'due' then pg_temp.range('2025-01-01') when 'created' then pg_temp.range('2025-01-01') else pg_temp.range('2025-06-01') end), '{}')
  from (select x as member from unnest(members) x order by random() limit count) m
$$;
create temporary table trial as
select i as trial_id, f.filters || case when i % 3 = 0 then jsonb_build_object('not', pg_temp.filter(1 + i % 2, '{projects,statuses,assignee,reporter,types,priorities,labels,created,updated,due}')) else '{}' end as filters
from generate_series(1, 40) i
cross join lateral (select pg_temp.filter(1 + i % 3, '{projects,statuses,open,assignee,reporter,types,priorities,labels,created,updated,due}')) f(filters);
create temporary table passing as select x.trial_id, t.ticket_id, t.project_id from trial x join public.tickets t on pg_temp.passes(t, x.filters);
create index on passing (trial_id, ticket_id);
analyze passing;
create temporary table distance as
select q.trial_id, c.ticket_id, c.embedding operator(extensions.<=>) pg_temp.point(-q.trial_id) as distance from trial q cross join public.chunks c;
create temporary table ranked as
select k.score, k.ticket_id from tasklens.rank_entries(tasklens.begin_search('pump leaks valve', null), 100000, 100000, 100000, 100000) k;
grant select on trial, passing, distance, ranked to authenticated, service_role;

-- Callers may not execute what it calls.
create function pg_temp.alike(filters jsonb) returns table (ticket_id bigint)
language sql stable security definer as $$
  select k.ticket_id from tasklens.rank_entries(tasklens.begin_search('pump leaks valve', filters), 10, 8000, 2000, 2000) k
$$;

-- Per trial: the expected number of results, at most ten; the number found; and how many of these
-- are right. Name similarity is computed for all matches, not only the best 50, so that the ranking
-- is exact. Ties may be in any order.
create function pg_temp.outcome(sees bigint[] default null) returns table (leg text, trial_id integer, wanted bigint, found bigint, nearest bigint)
language sql as $$
  with best as materialized (
    select 'vectors' as leg, b.trial_id, b.ticket_id from (
      select p.trial_id, p.ticket_id, rank() over (partition by p.trial_id order by round(d.distance::numeric, 9)) as place
      from passing p join distance d using (trial_id, ticket_id) where sees is null or p.project_id = any (sees)) b where b.place <= 10
    union all
    select 'words', b.trial_id, b.ticket_id from (
      select p.trial_id, p.ticket_id, rank() over (partition by p.trial_id order by round(r.score::numeric, 9) desc) as place
      from passing p join ranked r using (ticket_id) where sees is null or p.project_id = any (sees)) b where b.place <= 10
  ), got as materialized (
    select 'vectors' as leg, x.trial_id, v.ticket_id from trial x cross join lateral public.search_by_vector(pg_temp.point(-x.trial_id), 'm', -1, 10, filters => x.filters) v
    union all
    select 'words', x.trial_id, k.ticket_id from trial x cross join lateral pg_temp.alike(x.filters) k
  )
  select leg, trial_id, least(10, count(b.is_best)), count(g.is_got), count(*) filter (where b.is_best and g.is_got)
  from (select x.*, true as is_best from best x) b full join (select x.*, true as is_got from got x) g using (leg, trial_id, ticket_id)
  group by leg, trial_id
$$;

select cmp_ok((select count(*) from (select from passing group by trial_id having count(*) >= 10) x), '>', 15::bigint, 'more than 15 filters pass at least ten tickets');
select cmp_ok((select count(*) from trial x where (select count(*) from passing p where p.trial_id = x.trial_id) between 0 and 20), '>', 5::bigint, 'more than five filters pass at most 20 tickets');
select pg_temp.act('service');
select is_empty($$ select o.*, x.filters from pg_temp.outcome() o join trial x using (trial_id) where (o.found, o.nearest) is distinct from (o.wanted, o.wanted) $$,
  'keyword and vector search return the best tickets that pass each filter');
select pg_temp.act('viewer');
select is_empty($$ select o.* from pg_temp.outcome('{1,20,21,22,23,24}') o where o.leg = 'vectors' and (o.found, o.nearest) is distinct from (o.wanted, o.wanted) $$,
  'vector search returns the best visible tickets that pass each filter');
-- The weights of words depend on what the caller sees.
select is_empty($$ select o.* from pg_temp.outcome('{1,20,21,22,23,24}') o where o.leg = 'words' and o.found <> o.wanted $$, 'keyword search returns as many visible tickets as pass each filter');
reset role;

-- So few tickets would all be compared: force use of the indexes.
create or replace function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language sql stable as $$ select null::bigint[] $$;
select pg_temp.act('service');
create temporary table by_index as select * from pg_temp.outcome();
reset role;
select is_empty($$ select o.*, x.filters from by_index o join trial x using (trial_id) where o.found <> o.wanted $$, 'searches by index return as many tickets as pass each filter');
select cmp_ok((select min(o.nearest / o.wanted::numeric) from by_index o where o.wanted > 0), '>=', 0.8, 'searches by index have a recall of at least 0.8 under each filter');
select cmp_ok((select avg(o.nearest / o.wanted::numeric) from by_index o where o.wanted > 0), '>=', 0.99, 'searches by index have an average recall of at least 0.99');

select * from finish();
rollback;
