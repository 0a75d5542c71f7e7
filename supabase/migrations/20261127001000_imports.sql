-- Which import a project or ticket came from: an import changes and removes only what is its own.

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
  name text := nullif(btrim(begin_import.origin), '');
  known text[];
begin
  if name is null then
    select array_agg(distinct m.origin order by m.origin) into known
    from public.projects p
    join tasklens.imported_projects m using (project_id)
    join tasklens.imports i using (import_id)
    where p.key = any (begin_import.project_keys) and i.format = begin_import.format;
    if cardinality(known) > 1 then
      raise exception using errcode = 'invalid_parameter_value',
        message = format('the projects came from several imports, %s: say which of them this is', array_to_string(known, ', ')),
        hint = 'Give the origin.';
    end if;
    name := coalesce(known[1], concat_ws(' ', begin_import.format, (select min(k) from unnest(begin_import.project_keys) k)));
  end if;
  return query
  insert into tasklens.imports as i (origin, format)
  values (name, case when nullif(btrim(begin_import.origin), '') is null then begin_import.format
    else (select max(e.format) from tasklens.imports e where e.origin = name) end)
  returning i.import_id, i.origin;
end
$$;
comment on function public.begin_import is
  'Begins an import: its id, for upsert_projects and upsert_tickets, and its origin, by default that of the last import of this format with one of these projects.';

-- Without an import_id rows are matched by key alone.
create function public.upsert_projects(projects jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, project_id bigint, held_by text, reason text, cut text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := (select i.origin from tasklens.imports i where i.import_id = upsert_projects.import_id);
begin
  if our_origin is not null then
    -- Two imports must not both find a key free.
    perform pg_advisory_xact_lock(hashtext('tasklens.imported_projects'));
  end if;
  return query
  with given as (
    -- If a key occurs several times, the last row counts.
    select distinct on (g.row ->> 'key') g.row ->> 'key' as key, g.row ->> 'name' as name, g.row ->> 'description' as description,
      g.row ->> 'language' as language, g.row ? 'language' as has_language
    from jsonb_array_elements(upsert_projects.projects) with ordinality as g(row, place)
    order by g.row ->> 'key', g.place desc
  ), held as (
    select p.key, p.project_id, coalesce(m.origin, '') as held_by
    from given g
    join public.projects p on p.key = g.key
    left join tasklens.imported_projects m on m.project_id = p.project_id
    where not upsert_projects.take_over and m.origin is distinct from our_origin and our_origin is not null
  ), written as (
    insert into public.projects as p (key, name, description, language)
    select g.key, g.name, g.description, g.language from given g where not exists (select from held h where h.key = g.key)
    on conflict (key) do update set name = excluded.name, description = excluded.description,
      language = (select case when g.has_language then g.language else p.language end from given g where g.key = p.key)
      where (p.name, p.description) is distinct from (excluded.name, excluded.description)
        or exists (select from given g where g.key = p.key and g.has_language and g.language is distinct from p.language)
    returning p.key, p.project_id
  ), ours as (
    select w.key, w.project_id from written w
    union all
    select p.key, p.project_id from public.projects p join given g on g.key = p.key
    where not exists (select 1 from written w where w.key = p.key) and not exists (select from held h where h.key = p.key)
  ), listed as (
    insert into tasklens.imported_projects as m (project_id, import_id, origin)
    select o.project_id, upsert_projects.import_id, our_origin from ours o where our_origin is not null
    on conflict (project_id) do update set origin = excluded.origin,
      import_id = case when upsert_projects.take_over then excluded.import_id else greatest(m.import_id, excluded.import_id) end
  )
  select o.key, o.project_id, null::text, null::text, null::text from ours o
  union all
  select h.key, h.project_id, h.held_by, null, null from held h;
end
$$;
comment on function public.upsert_projects is
  'Inserts or updates projects by key: [{key, name, description, language}]. Without language, it stays. Projects of another origin than import_id''s stay unless taken over: held_by names it, empty if they were not imported.';

insert into tasklens.migrations (version) values ('20261127001000');
