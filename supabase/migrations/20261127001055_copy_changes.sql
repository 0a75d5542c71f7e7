-- Takes what changed in attached views from the queue, and copies it.

-- Rows known and rows shown, each by pages, since one statement cannot take all. A plan
-- cached while the tables were small would read all of them each time.
create function tasklens.expand_changes(kind text, by_column text, sought text[], progress jsonb, page integer) returns jsonb
language plpgsql volatile security invoker set search_path = '' set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
  key constant text := (select k.needed[1] from tasklens.attached_kinds k where k.kind = expand_changes.kind);
  source constant tasklens.attached_views := (select a from tasklens.attached_views a where a.kind = expand_changes.kind);
  type constant text := source.columns ->> by_column;
  queued bigint;
  last text;
begin
  if progress -> 'known' is distinct from 'false' then
    with next as (
      select m.key from tasklens.attached_rows m
      where m.kind = kind and m.key > coalesce(progress ->> 'known', '') and m.key not in ('*', '*null')
        and (by_column = '*' or m.found_by && array(select by_column || '=' || f from unnest(sought) f))
      order by m.key limit page
    ), added as (
      insert into tasklens.changed_rows (kind, value) select kind, n.key from next n
    )
    select count(*), max(n.key) into queued, last from next n;
    progress := progress || jsonb_build_object('known', case when queued = page then to_jsonb(last) else 'false' end);
  end if;
  queued := 0;
  if source.view is not null then
    execute format($statement$
      with next as (select distinct v.%1$I as id from %2$s v where v.%1$I is not null%3$s%4$s order by 1 limit $1),
        added as (insert into tasklens.changed_rows (kind, value, attempts) select $2, k.key, 0 from next n cross join lateral (select to_jsonb(n.id) #>> '{}' as key) k
          where not exists (select from tasklens.attached_rows m where (m.kind, m.key) = ($2, k.key)%5$s) on conflict do nothing)
      select count(*), (array_agg(to_jsonb(n.id) #>> '{}' order by n.id desc))[1] from next n $statement$, key, source.view,
        case when by_column = '*' then '' when type like '%[]' then format(' and v.%I && $3::%s', by_column, type) else format(' and v.%I = any ($3::%s[])', by_column, type) end,
        case when progress ? 'shown' then format(' and v.%I > %L::%s', key, progress ->> 'shown', source.columns ->> key) end,
        case when by_column <> '*' then format(' and m.found_by && array(select %L || f from unnest($3) f)', by_column || '=') end)
      into queued, last using page, kind, sought;
    progress := progress || jsonb_strip_nulls(jsonb_build_object('shown', last));
  end if;
  return case when queued = page or progress -> 'known' <> 'false' then progress end;
end
$$;
comment on function tasklens.expand_changes is 'Queues once the keys of the next rows that have one of these values in a column (or of all: *). Returns how far it came; null at the end.';

-- Rows that are no longer shown, or now belong elsewhere.
create function tasklens.hidden_rows(kind text, keys text[]) returns text[]
language plpgsql stable security invoker set search_path = ''
as $$
#variable_conflict use_variable
declare
  part record;
  hidden text[] := array[]::text[];
begin
  select k.needed[1] as key, k.needed[cardinality(k.needed)] as above, a.view, a.columns ->> k.needed[1] as type into part
  from tasklens.attached_kinds k join tasklens.attached_views a using (kind) where k.kind = kind and a.view is not null;
  if found then
    execute format($statement$
      select array(select distinct k.key from (
        select m.key, f from tasklens.attached_rows m cross join unnest(m.found_by) f where m.kind = $2 and m.key = any ($1) and starts_with(f, %1$L)
        except select to_jsonb(v.%2$I) #>> '{}', %1$L || (to_jsonb(v.%3$I) #>> '{}') from %4$s v where v.%2$I = any ($1::%5$s[])) k) $statement$,
      part.above || '=', part.key, part.above, part.view, part.type) into hidden using keys, kind;
  end if;
  return hidden;
end
$$;
comment on function tasklens.hidden_rows is 'Which of the copied rows with these keys a view hides. Locks nothing.';

-- Of what is beyond a megabyte only keys are returned. Where a row has lost its key, all rows
-- without one are counted.
create function tasklens.shown_rows(kind text, keys text[], out given jsonb, out later text[])
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_variable
declare
  part record;
  keyless bigint;
begin
  select k.needed[1] as key, a.view, a.columns ->> k.needed[1] as type into part
  from tasklens.attached_kinds k join tasklens.attached_views a using (kind) where k.kind = kind and a.view is not null;
  if not found then
    given := '[]';
    later := '{}';
    return;
  end if;
  execute format($statement$
    with shown as materialized (select to_jsonb(v) as row, row_number() over (order by v.%2$I) as place from %1$s v where v.%2$I = any ($1::%3$s[])),
      sized as (select s.row ->> %2$L as key, sum(sum(octet_length(s.row::text))) over (order by s.row ->> %2$L) - sum(octet_length(s.row::text)) > 1000000 as later from shown s group by 1)
    select coalesce((select jsonb_agg(s.row order by s.place) from shown s join sized z on z.key = s.row ->> %2$L where not z.later), '[]'), array(select z.key from sized z where z.later),
      case when exists (select unnest($1) except select z.key from sized z) or exists (select from tasklens.attached_rows m where (m.kind, m.key) = ($2, '*null'))
        then (select count(*) from %1$s v where v.%2$I is null) end $statement$, part.view, part.key, part.type) into given, later, keyless using keys, kind;
  if keyless is not null then
    perform tasklens.note_rows(kind, '{*null}', (select coalesce(jsonb_agg(n), '[]') from (
      select '*null' as key, format('the view %s shows %s rows without %s', part.view, keyless, part.key) as reason, keyless as rows, true as refused where keyless > 0) n));
  end if;
end
$$;
comment on function tasklens.shown_rows is 'What a view shows of the rows with these keys. Locks nothing but its note of rows without a key.';

create function tasklens.next_changes(kind text, tries integer, most bigint, latest bigint)
returns table (by_column text, progress jsonb, ids bigint[], keys text[], entries bigint)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select f.by_column, f.progress, array_agg(q.change_id), array_agg(distinct q.value), count(*)
  from (
    select q.by_column, q.progress from tasklens.changed_rows q
    where q.kind = next_changes.kind and q.attempts = next_changes.tries and q.change_id <= coalesce(next_changes.latest, q.change_id) order by q.by_column is not null, q.change_id limit 1) f
  cross join lateral (
    select q.change_id, q.value from tasklens.changed_rows q
    where q.kind = next_changes.kind and q.attempts = next_changes.tries and q.change_id <= coalesce(next_changes.latest, q.change_id)
      and (q.by_column is not null) = (f.by_column is not null) and (q.by_column, q.progress) is not distinct from (f.by_column, f.progress)
    order by q.change_id limit case when next_changes.tries < 0 and f.by_column is null then 2000 else next_changes.most end) q
  group by 1, 2
$$;
comment on function tasklens.next_changes is 'The next entries of the queue that can be taken together: of rows, then of a column, or of all. Locks nothing.';

-- A row that fails alone is refused. What fails for another reason waits as it is, and so do all
-- rows of a view that is not there.
create function tasklens.retry_changes(kind text, ids bigint[], keys text[], tries integer, passing boolean, missing boolean, said text) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if passing then
    raise warning 'copy_changes: %', said;
  elsif missing or keys is null then
    perform tasklens.note_rows(retry_changes.kind, '{}', jsonb_build_array(jsonb_build_object('key', '*', 'reason', said, 'refused', true)));
  elsif tries = 2 then
    begin
      perform tasklens.copy_rows(retry_changes.kind, keys, '[]');
    exception when others then
      null; -- the copy cannot go, such as for a foreign key
    end;
    perform tasklens.note_rows(retry_changes.kind, keys, jsonb_build_array(jsonb_build_object('key', keys[1], 'reason', said, 'refused', true)));
  end if;
  with taken as (delete from tasklens.changed_rows q where q.change_id = any (ids) and not missing returning q.*)
  insert into tasklens.changed_rows (kind, by_column, value, progress, attempts, queued_at)
  select t.kind, t.by_column, t.value, t.progress, least(2, t.attempts + 1), t.queued_at from taken t where tries < 2 or t.by_column is not null or passing
  on conflict do nothing;
end
$$;
comment on function tasklens.retry_changes is 'Puts entries of the queue that failed back into it, to be tried among fewer, or refuses the one row that failed alone. keys is null for entries of a column. Locks these entries, and what copy_rows does.';

-- One call at a time: a second one could store what it read before the first one read. New entries
-- are first asked which rows they hide; these go ahead of all others. What fails is tried again
-- after all else, among fewer rows, until one row alone is refused.
create function public.copy_changes(row_limit integer default 1000) returns bigint
language plpgsql volatile security definer set search_path = '' set row_security = off set enable_seqscan = off set jit = off set lock_timeout = '2s'
as $$
#variable_conflict use_variable
declare
  most constant bigint := tasklens.clamp(row_limit, 1000, 1, 100000);
  budget constant interval := nullif(current_setting('statement_timeout'), '0')::interval / 4;
  handled bigint := 0;
  began timestamptz;
  part record;
  change record; -- entries that are taken together
  given jsonb;
  later text[]; -- keys beyond a megabyte
  size integer;
  passing boolean;
  missing boolean;
begin
  if not pg_try_advisory_xact_lock(hashtext('tasklens.copy_changes')) then
    return null;
  end if;
  with freed as (
    update tasklens.attached_rows m set blocked_by = null
    where m.blocked_by is not null and case m.kind
      when 'projects' then not exists (select from public.projects p where p.key = m.blocked_by)
      else not exists (select from public.tickets t where upper(t.key) = upper(m.blocked_by)) end
    returning m.kind, m.key
  )
  insert into tasklens.changed_rows (kind, value, attempts) select f.kind, f.key, 0 from freed f on conflict do nothing;
  <<copying>>
  for part in
    -- What hides rows, then parents first.
    select k.kind, a.view, t.pass, greatest(t.pass, -1) as tries, (array[200, 200, 200, 14, 1])[t.pass + 3] as size,
      case when t.pass = 2 then (select coalesce(max(q.change_id), 0) from tasklens.changed_rows q) end as last
    from generate_series(-2, 2) t(pass) cross join tasklens.attached_kinds k left join tasklens.attached_views a using (kind) order by t.pass, k.place
  loop
    size := part.size;
    loop
      began := clock_timestamp();
      exit when handled >= most or (handled > 0 or part.tries < 0) and began > statement_timestamp() + budget;
      select * into change from tasklens.next_changes(part.kind, part.tries, least(size, most - handled), part.last);
      exit when not found or part.pass = -2 and change.by_column is not null;
      given := null;
      begin
        perform tasklens.check_rights(part.view);
        if change.by_column is not null then
          given := tasklens.expand_changes(part.kind, change.by_column, change.keys, change.progress, 100 * part.size);
          update tasklens.changed_rows q set progress = given where q.change_id = any (change.ids) and given is not null;
          delete from tasklens.changed_rows q where q.change_id = any (change.ids) and given is null;
        else
          if part.tries < 0 then
            change.keys := tasklens.hidden_rows(part.kind, change.keys);
            with shown as (delete from tasklens.changed_rows q where q.change_id = any (change.ids) and (q.value = any (change.keys)) is not true returning q.*)
            insert into tasklens.changed_rows (kind, value, attempts, queued_at) select s.kind, s.value, 0, min(s.queued_at) from shown s group by 1, 2 on conflict do nothing;
            change.keys := change.keys[1:least(200, most - handled)];
            continue when change.keys = '{}';
          end if;
          select * into given, later from tasklens.shown_rows(part.kind, change.keys);
          delete from tasklens.changed_rows q where q.change_id = any (change.ids) and (q.value = any (change.keys)) is not false and (q.value = any (later)) is not true;
          get diagnostics change.entries = row_count;
          change.keys := array(select k from unnest(change.keys) k where k <> all (later));
          perform tasklens.copy_rows(part.kind, change.keys, given);
          size := least(part.size, 2 * cardinality(change.keys)); -- what makes a megabyte
        end if;
        delete from tasklens.attached_rows m where m.kind = part.kind and m.key = '*'
          and not exists (select from tasklens.changed_rows q where q.kind = part.kind and q.attempts > 0 and (q.by_column is null) = false);
        handled := handled + change.entries;
      exception when others or query_canceled then
        -- What says nothing of these rows: locks, disks. Of a cancelled statement, the little time it had.
        passing := sqlstate ~ '^(40|53|55|57|58|XX00[12])' and (sqlstate = '57014' and clock_timestamp() > began + 2 * budget) is not true;
        missing := not passing and change.by_column is null and given is null and sqlstate ~ '^42';
        perform tasklens.retry_changes(part.kind, change.ids, case when change.by_column is null then change.keys end, part.tries, passing, missing, sqlerrm);
        exit when missing;
        handled := handled + case when passing or change.by_column is not null then 0 else change.entries end;
        exit copying when passing or sqlstate = '57014';
      end;
    end loop;
  end loop;
  if handled > 0 then
    perform tasklens.drop_unused_states();
  end if;
  return handled;
end
$$;
comment on function public.copy_changes is 'Copies what changed in attached views, at most row_limit entries of the queue, for at most a quarter of the statement timeout, and returns how many that were: call it until it returns 0; null while another call is copying. Workers call it before they claim jobs.';

insert into tasklens.migrations (version) values ('20261127001055');
