-- Imports: which one a project or ticket came from, and what it writes. It says what changed, and
-- changes and removes only what is its own; what it does not name stays.

create table tasklens.imports (
  import_id bigint generated always as identity primary key,
  origin text not null check (length(origin) between 1 and 255),
  format text,
  began_at timestamptz not null default now()
);
comment on table tasklens.imports is 'The imports that began. Those of the same export, such as each month''s, have one origin.';
comment on column tasklens.imports.format is 'By which a default origin is found again; null if the caller named the origin.';
create index imports_origin_idx on tasklens.imports (origin, import_id);

create table tasklens.imported_projects (
  project_id bigint primary key references public.projects on delete cascade,
  import_id bigint not null references tasklens.imports,
  origin text not null
);
comment on table tasklens.imported_projects is 'The last import that listed a project, and its origin. One made otherwise is not here.';
create index imported_projects_import_id_idx on tasklens.imported_projects (import_id);

create table tasklens.imported_tickets (
  ticket_id bigint primary key references public.tickets on delete cascade,
  import_id bigint not null references tasklens.imports,
  origin text not null,
  links jsonb,
  unlisted_comments bigint[] not null default '{}'
);
comment on table tasklens.imported_tickets is 'The last import that listed a ticket, and its origin. One made otherwise is not here.';
comment on column tasklens.imported_tickets.links is 'The links that this import lists, by key; null if it has none for this ticket. Stored once all tickets exist.';
comment on column tasklens.imported_tickets.unlisted_comments is 'The comments with a key that this import lacks; none if it has no comments for this ticket.';
create index imported_tickets_import_id_idx on tasklens.imported_tickets (import_id, ticket_id);

create table tasklens.imported_links (
  ticket_id bigint not null,
  kind text not null,
  other_ticket_id bigint not null,
  listed_by bigint not null references tasklens.imported_tickets on delete cascade,
  import_id bigint not null references tasklens.imports,
  primary key (ticket_id, kind, other_ticket_id),
  foreign key (ticket_id, kind, other_ticket_id) references public.ticket_links on delete cascade
);
comment on table tasklens.imported_links is 'The links that imports made: the ticket that listed each, and the last import that did.';
create index imported_links_listed_by_idx on tasklens.imported_links (listed_by);
create index imported_links_import_id_idx on tasklens.imported_links (import_id);

-- Files of most formats do not name their tracker. Their default origin is that of an earlier
-- import of the same format with one of these projects.
create function public.begin_import(origin text default null, format text default null, project_keys text[] default '{}')
returns table (import_id bigint, import_origin text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  given constant text := nullif(btrim(begin_import.origin), '');
  known constant text[] := array(
    select distinct m.origin
    from public.projects p join tasklens.imported_projects m using (project_id) join tasklens.imports i using (import_id)
    where given is null and p.key = any (begin_import.project_keys) and i.format = begin_import.format order by 1);
begin
  if cardinality(known) > 1 then
    raise exception using errcode = 'invalid_parameter_value', hint = 'Give the origin.',
      message = format('the projects came from several imports, %s: say which of them this is', array_to_string(known, ', '));
  end if;
  return query
  insert into tasklens.imports as i (origin, format)
  select n.name, case when given is null then begin_import.format else (select max(e.format) from tasklens.imports e where e.origin = n.name) end
  from (select coalesce(given, known[1], concat_ws(' ', begin_import.format, (select min(k) from unnest(begin_import.project_keys) k)))) n(name)
  returning i.import_id, i.origin;
end
$$;
comment on function public.begin_import is 'Begins an import: its id, for upsert_projects and upsert_tickets, and its origin, by default that of the last import of this format with one of these projects.';

create function tasklens.sourced_ticket(our_origin text, source_id text) returns bigint
language sql stable security invoker set search_path = ''
as $$
  select min(t.ticket_id) from public.tickets t join tasklens.imported_tickets m using (ticket_id) where t.source_id = sourced_ticket.source_id and m.origin = our_origin having count(*) = 1
$$;
comment on function tasklens.sourced_ticket is 'The ticket of an origin with this id in its tracker; null if none or several have it.';

-- An import writes rows with keys that are its own or new, and tickets in its own projects. Where
-- nobody has a ticket's key, one with its id moved, unless this import lists that one, too. Another
-- server may use the same ids again: a ticket that moves was made when it was.
create function tasklens.judge_import(kind text, given jsonb, import_id bigint, our_origin text, take_over boolean)
returns table (place bigint, kind text, key text, id bigint, parent bigint, "row" jsonb, links jsonb, listed text[], held_by text, reason text, cut text, writes boolean, moved boolean)
language sql stable rows 100 security invoker set search_path = ''
as $$
  with elements as materialized (
    select g.row, g.place as of from jsonb_array_elements(judge_import.given) with ordinality g(row, place)
  ), parts as materialized (
    select array_agg(p.kind) as kinds, array_agg(p.row) as rows, array_agg(p.of) as of
    from (
      select judge_import.kind, g.row, g.of from elements g
      union all
      select l.kind, e.row, g.of
      from elements g cross join unnest(case judge_import.kind when 'tickets' then '{comments,notes,links}'::text[] end) l(kind)
      cross join lateral jsonb_array_elements(case jsonb_typeof(g.row -> l.kind) when 'array' then g.row -> l.kind else '[]' end) e(row)
    ) p
  ), judged as materialized (
    select p.of[j.place] as of, j.*, j.row ->> 'key' as key from parts p cross join lateral tasklens.judge_rows(p.kinds, p.rows, true) j
  ), known as materialized (
    select t.*, o.ticket_id, coalesce(o.key, t.key) as stored_key
    from judged t left join public.tickets o on t.kind = 'tickets' and upper(o.key) = upper(t.key)
    where t.kind = judge_import.kind
  ), former as materialized (
    select distinct on (x.ticket_id) upper(t.key) as key, x.ticket_id
    from known t
    cross join lateral (select tasklens.sourced_ticket(our_origin, t.row ->> 'source_id') as id where t.ticket_id is null and t.kind = 'tickets' and t.reason is null) s
    join public.tickets x on x.ticket_id = s.id join tasklens.imported_tickets m on m.ticket_id = s.id
    where m.import_id < judge_import.import_id and upper(x.key) not in (select upper(k.key) from known k where k.key is not null)
      and ((t.row ->> 'created_at')::timestamptz - x.created_at between '-1 day' and '1 day') is not false
    order by x.ticket_id, 1
  ), held as materialized (
    select t.of, case t.kind when 'tickets' then coalesce(t.ticket_id, x.ticket_id) else p.project_id end as id, x.ticket_id is not null as moved, t.stored_key as key, p.project_id, t.row, i.kinds, i.rows,
      case jsonb_typeof(g.row -> 'links') when 'array' then coalesce(i.links, '[]') end as links, case jsonb_typeof(g.row -> 'comments') when 'array' then coalesce(i.listed, '{}') end as listed,
      coalesce(t.reason, i.reason, case when t.kind = 'tickets' and p.project_id is null then 'there is no project ' || left(t.row ->> 'project_key', 255) end) as reason,
      nullif(concat_ws(', ', t.cut, i.cut), '') as cut, case when our_origin is null or p.project_id is null then null
        when m.origin is distinct from our_origin and not (t.kind = 'projects' and take_over) then coalesce(m.origin, '')
        when n.origin is distinct from our_origin and t.ticket_id is not null and not take_over then coalesce(n.origin, '') end as held_by
    from known t join elements g on g.of = t.of
    left join (
      select j.of, jsonb_agg(j.row order by j.place) filter (where j.kind = 'links') as links, array_agg(j.key) filter (where j.kind = 'comments' and j.key is not null) as listed,
        array_agg(j.kind order by j.place) filter (where j.kind <> 'links') as kinds, array_agg(j.row order by j.place) filter (where j.kind <> 'links') as rows,
        min('in its ' || j.kind || ': ' || j.reason) as reason, string_agg(distinct j.kind || '.' || j.cut, ', ') as cut
      from judged j where j.kind <> judge_import.kind group by 1) i on i.of = t.of
    left join public.projects p on p.key = t.row ->> case t.kind when 'tickets' then 'project_key' else 'key' end
    left join tasklens.imported_projects m on m.project_id = p.project_id
    left join tasklens.imported_tickets n on n.ticket_id = t.ticket_id
    left join former x on x.key = upper(t.key)
  )
  select h.of, judge_import.kind, h.key, h.id, h.project_id, h.row, h.links, h.listed, case when h.reason is null then h.held_by end, h.reason, h.cut,
    coalesce(h.of = max(h.of) filter (where h.reason is null and h.held_by is null) over (partition by case judge_import.kind when 'tickets' then upper(h.key) else h.key end), false), h.moved
  from held h
  union all
  select h.of, j.kind, h.key, null, null, j.row, null, null, null, null, null, true, false
  from held h cross join lateral unnest(h.kinds, h.rows) j(kind, "row") where h.reason is null and h.held_by is null
$$;
comment on function tasklens.judge_import is 'The rows given to upsert_projects or upsert_tickets, and the comments and notes of those that are written, with the id and key of the stored row; moved: of one that has another key. held_by names the origin of a row, or its project, that is not the import''s. Of several good rows with a key the last one is written. Locks nothing.';

-- Notes are identified by their ticket and text, comments by their ticket and key. Those without
-- are skipped.
create function tasklens.write_parts(kinds text[], keys text[], rows jsonb[]) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  comments record;
begin
  insert into public.status_changes (ticket_id, status_id, note, created_at)
  select g.ticket_id, s.status_id, g.note, coalesce(g.created_at, now())
  from (
    select distinct on (t.ticket_id, p.row ->> 'note') t.ticket_id, p.row ->> 'note' as note, p.row ->> 'status' as status, (p.row ->> 'created_at')::timestamptz as created_at, p.place
    from unnest(kinds, keys, rows) with ordinality p(kind, key, "row", place) join public.tickets t on upper(t.key) = upper(p.key)
    where p.kind = 'notes' and p.row ->> 'note' ~ '\S' and not exists (select from public.status_changes c where c.ticket_id = t.ticket_id and c.note = p.row ->> 'note')
    order by 1, 2, p.place) g
  left join public.status s on lower(s.name) = lower(g.status)
  order by g.place;
  select array_agg(o.comment_id) as ids, array_agg(o.ticket_id) as tickets, array_agg(o.row) as rows into comments
  from (
    select c.comment_id, g.ticket_id, g.row
    from (
      select distinct on (t.ticket_id, p.row ->> 'key') t.ticket_id, p.row, p.place
      from unnest(kinds, keys, rows) with ordinality p(kind, key, "row", place) join public.tickets t on upper(t.key) = upper(p.key)
      where p.kind = 'comments' and p.row ? 'key' and p.row ->> 'body' ~ '\S'
      order by 1, p.row ->> 'key', p.place desc) g
    left join public.comments c on c.ticket_id = g.ticket_id and c.key = g.row ->> 'key'
    order by g.ticket_id, g.place) o;
  perform tasklens.write_rows('comments', comments.ids, comments.tickets, comments.rows, true);
end
$$;
comment on function tasklens.write_parts is 'Adds the notes, and inserts or updates the comments, of imported tickets. Locks the comments that it writes, by ticket.';

create function tasklens.import_batch(kind text, given jsonb, import_id bigint, take_over boolean) returns jsonb
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := (select i.origin from tasklens.imports i where i.import_id = import_batch.import_id);
  judged record; -- a row for each that is given; those to write, by key, so that concurrent imports cannot deadlock; what names states; comments and notes
  marked bigint;
begin
  if our_origin is not null and import_batch.kind = 'projects' then
    -- Two imports must not both find a key free.
    perform pg_advisory_xact_lock(hashtext('tasklens.imported_projects'));
  end if;
  select jsonb_agg(jsonb_build_object('place', j.place, 'key', j.key, 'links', j.links, 'listed', j.listed, 'held_by', j.held_by, 'reason', j.reason, 'cut', j.cut, 'writes', j.writes) order by j.place)
      filter (where j.kind = import_batch.kind) as batch,
    count(*) filter (where w.is) as good, array_agg(j.id order by upper(j.key)) filter (where w.is) as ids, array_agg(j.parent order by upper(j.key)) filter (where w.is) as parents,
    array_agg(j.row order by upper(j.key)) filter (where w.is) as rows, array_agg(j.row order by j.kind desc, j.place) filter (where j.kind in ('tickets', 'notes') and j.writes) as named,
    array_agg(j.id) filter (where w.is and j.moved) as moved_ids, array_agg(j.key) filter (where w.is and j.moved) as moved_keys,
    array_agg(j.kind) filter (where p.is) as part_kinds, array_agg(j.key) filter (where p.is) as part_keys, array_agg(j.row) filter (where p.is) as parts
    into judged
    from tasklens.judge_import(import_batch.kind, given, import_batch.import_id, our_origin, take_over) j
    cross join lateral (select j.kind = import_batch.kind and j.writes) w("is") cross join lateral (select j.kind <> import_batch.kind) p("is");
  if judged.moved_ids is not null then
    insert into tasklens.former_keys (key, ticket_id) select upper(t.key), t.ticket_id from public.tickets t where t.ticket_id = any (judged.moved_ids)
    on conflict (key) do update set ticket_id = excluded.ticket_id;
    update public.tickets t set key = m.key from unnest(judged.moved_ids, judged.moved_keys) m(id, key) where t.ticket_id = m.id;
  end if;
  perform tasklens.add_states(judged.named);
  perform tasklens.write_rows(import_batch.kind, judged.ids, judged.parents, judged.rows, true);
  if judged.parts is not null then
    perform tasklens.write_parts(judged.part_kinds, judged.part_keys, judged.parts);
  end if;
  -- Which import listed the rows, and what it lists of them.
  insert into tasklens.imported_projects as m (project_id, import_id, origin)
  select p.project_id, import_batch.import_id, our_origin
  from jsonb_to_recordset(judged.batch) b(key text, writes boolean) join public.projects p on p.key = b.key
  where b.writes and our_origin is not null and import_batch.kind = 'projects'
  on conflict (project_id) do update set origin = excluded.origin, import_id = case when take_over then excluded.import_id else greatest(m.import_id, excluded.import_id) end;
  if our_origin is not null and import_batch.kind = 'tickets' then
    insert into tasklens.imported_tickets as m (ticket_id, import_id, origin, links, unlisted_comments)
    select t.ticket_id, import_batch.import_id, our_origin, b.links, array(select c.comment_id from public.comments c where c.ticket_id = t.ticket_id and c.key <> all (b.listed) order by 1)
    from jsonb_to_recordset(judged.batch) b(key text, links jsonb, listed text[], writes boolean) join public.tickets t on upper(t.key) = upper(b.key)
    where b.writes
    order by t.ticket_id
    on conflict (ticket_id) do update set import_id = case when take_over then excluded.import_id else greatest(m.import_id, excluded.import_id) end,
      origin = excluded.origin, links = excluded.links, unlisted_comments = excluded.unlisted_comments
      where take_over or m.origin = excluded.origin;
    get diagnostics marked = row_count;
    if marked <> judged.good then
      -- Undoes this batch. When it is tried again, these keys are refused.
      raise exception using errcode = 'serialization_failure', message = 'Another import has just added one of these tickets.';
    end if;
  end if;
  return (
    select jsonb_agg(jsonb_build_object('key', left(coalesce(t.key, b.key), 255), 'ticket_id', t.ticket_id, 'project_id', coalesce(t.project_id, p.project_id), 'held_by', b.held_by, 'reason', b.reason, 'cut', b.cut,
      'comment_ids', case when b.reason is null then array(select c.comment_id from public.comments c where c.ticket_id = t.ticket_id and c.key = any (b.listed) order by 1) end) order by b.place)
    from jsonb_to_recordset(judged.batch) b(place bigint, key text, listed text[], held_by text, reason text, cut text)
    left join public.tickets t on import_batch.kind = 'tickets' and b.reason is null and upper(t.key) = upper(b.key)
    left join public.projects p on import_batch.kind = 'projects' and b.reason is null and p.key = b.key);
end
$$;
comment on function tasklens.import_batch is 'Writes the rows given to upsert_projects or upsert_tickets, at least one, and returns what became of each. Locks those that it writes, in the order of their keys; imports of projects wait for one another.';

-- What a batch cannot hold, such as a value that a constraint of the adopter refuses, costs only
-- its row: then each is written alone.
create function tasklens.import_rows(kind text, given jsonb, import_id bigint, take_over boolean) returns jsonb
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  results jsonb;
begin
  if jsonb_typeof(given) is distinct from 'array' then
    raise exception using errcode = 'invalid_parameter_value', message = format('%s is a JSON %s, not a list', kind, coalesce(jsonb_typeof(given), 'null'));
  elsif given = '[]' then
    return given;
  end if;
  begin
    results := tasklens.import_batch(kind, given, import_id, take_over);
  exception when data_exception or integrity_constraint_violation or raise_exception or program_limit_exceeded then
    if jsonb_array_length(given) = 1 then
      return jsonb_build_array(jsonb_build_object('key', left(given #>> '{0,key}', 255), 'reason', sqlerrm));
    end if;
    select jsonb_agg(r.result order by r.place) into results
    from (
      select g.place, tasklens.import_rows(import_rows.kind, jsonb_build_array(g.row), import_rows.import_id, import_rows.take_over) -> 0 as result
      from (select * from jsonb_array_elements(given) with ordinality e(row, place) order by upper(e.row ->> 'key'), e.place) g offset 0) r;
  end;
  -- A ticket whose row is refused is listed all the same: pruning leaves it and what it has.
  update tasklens.imported_tickets m set import_id = greatest(m.import_id, import_rows.import_id), unlisted_comments = '{}'
  from jsonb_to_recordset(results) r(key text, reason text) join public.tickets t on upper(t.key) = upper(r.key) join tasklens.imports i on i.import_id = import_rows.import_id
  where r.reason is not null and import_rows.kind = 'tickets' and m.ticket_id = t.ticket_id and m.origin = i.origin;
  return results;
end
$$;
comment on function tasklens.import_rows is 'What became of each row of an import, in their order. Locks what import_batch does.';

-- Without an import_id rows are matched by key alone.
create function public.upsert_projects(projects jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, project_id bigint, held_by text, reason text, cut text)
language sql volatile security invoker set search_path = ''
as $$
  select r.* from jsonb_to_recordset(tasklens.import_rows('projects', upsert_projects.projects, upsert_projects.import_id, upsert_projects.take_over))
    r(key text, project_id bigint, held_by text, reason text, cut text)
$$;
comment on function public.upsert_projects is 'Inserts or updates projects by key: [{key, name, description, any column of projects}]. Without language, it stays. Returns, in their order, what became of the rows: projects of another origin than import_id''s stay unless taken over, and held_by names it, empty if they were not imported; a row with a reason is not written; cut names what is stored to its 1,000th character.';

create function public.upsert_tickets(tickets jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, ticket_id bigint, project_id bigint, comment_ids bigint[], held_by text, reason text, cut text)
language sql volatile security invoker set search_path = ''
as $$
  select r.* from jsonb_to_recordset(tasklens.import_rows('tickets', upsert_tickets.tickets, upsert_tickets.import_id, upsert_tickets.take_over))
    r(key text, ticket_id bigint, project_id bigint, comment_ids bigint[], held_by text, reason text, cut text)
$$;
comment on function public.upsert_tickets is 'Inserts or updates tickets by key: [{key, project_key, status, status_category, any column of tickets, notes: [{status, note, created_at}], comments: [{key, author, body, created_at, updated_at}], links: [{kind, key or source_id, inward}]}]. What has another key in its tracker now, and the same source_id there, moves with all that it has, and its former key leads to it. Omitted fields keep their values, and null clears them. Returns what became of each row, as upsert_projects does; tickets of another origin than import_id''s, or in its projects, stay unless taken over.';

insert into tasklens.migrations (version) values ('20261127001020');
