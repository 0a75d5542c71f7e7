-- Reads texts to be embedded. A source is a ticket with its status notes, a comment, or a project's
-- own text.

-- The first line of a comment's chunks.
create function private.comment_heading(author text, created_at timestamptz) returns text
language sql stable security invoker set search_path = ''
as $$
  select 'Comment' || coalesce(' by ' || nullif(btrim(left(comment_heading.author, 200)), ''), '')
    || ', ' || to_char(comment_heading.created_at at time zone 'UTC', 'YYYY-MM-DD')
$$;
comment on function private.comment_heading is 'The author and date of a comment, as a line above its chunks.';

-- The texts of some sources in the caller's snapshot, in the requested order. A missing source (or
-- a wrong ticket/project or comment/ticket pair) has no row. Names, heading and texts determine an
-- embedding; source_hash is their fingerprint. Texts are cut at text_limit characters.
create function private.source_texts(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[] default null)
returns table (
  place bigint, project_id bigint, ticket_id bigint, project_name text, ticket_name text, texts jsonb, source_hash text,
  comment_id bigint, comment_heading text
)
language sql stable rows 100 security invoker set search_path = ''
as $$
  with asked as (
    select a.place, a.project_id, a.ticket_id, a.comment_id
    from unnest(source_texts.project_ids, source_texts.ticket_ids, source_texts.comment_ids)
      with ordinality as a(project_id, ticket_id, comment_id, place)
  ), found as (
    select a.place, p.project_id, t.ticket_id, c.comment_id, p.name as project_name, t.name as ticket_name,
      case when t.ticket_id is null then 'project' when c.comment_id is null then 'ticket' else 'comment' end as kind,
      case when t.ticket_id is null then p.name || coalesce(e'\n\n' || nullif(p.description, ''), '')
        when c.comment_id is null then t.name || coalesce(e'\n\n' || nullif(t.description, ''), '')
        else c.body
      end as text,
      case when c.comment_id is not null then private.comment_heading(c.author, c.created_at) end as heading
    from asked a
    join public.projects p on p.project_id = a.project_id
    left join public.tickets t on t.ticket_id = a.ticket_id and t.project_id = a.project_id
    left join public.comments c on c.comment_id = a.comment_id and c.ticket_id = t.ticket_id
    where (a.ticket_id is null or t.ticket_id is not null) and (a.comment_id is null or c.comment_id is not null)
  ), told as (
    select f.*, (
      select coalesce(jsonb_agg(jsonb_build_object(
          'kind', x.kind, 'status_change_id', x.status_change_id, 'text', left(x.text, private.text_limit())
        ) order by x.status_change_id nulls first), '[]')
      from (
        select f.kind, null::bigint as status_change_id, f.text
        union all
        select 'status_note', s.status_change_id, s.note from public.status_changes s
        where s.ticket_id = f.ticket_id and f.comment_id is null
      ) x
      where x.text ~ '\S'
    ) as texts
    from found f
  )
  select t.place, t.project_id, t.ticket_id, t.project_name, t.ticket_name, t.texts,
    encode(sha256(convert_to(jsonb_build_array(t.project_name, t.ticket_name, t.heading, t.texts)::text, 'UTF8')), 'hex'),
    t.comment_id, t.heading
  from told t
$$;
comment on function private.source_texts is 'The texts of these sources to be chunked, with their fingerprint.';

-- One branch each, because "is not distinct from" cannot use an index.
create function private.source_chunks(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[], embedding_set smallint)
returns table (
  place bigint, chunk_id uuid, "position" bigint, input_hash text, model text, status_change_id bigint
)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select x.place, x.chunk_id, x.position, x.input_hash, x.model, x.status_change_id
  from (
    select a.place, c.*
    from unnest(source_chunks.project_ids, source_chunks.ticket_ids, source_chunks.comment_ids)
      with ordinality as a(project_id, ticket_id, comment_id, place)
    join public.chunks c on c.ticket_id = a.ticket_id and c.project_id = a.project_id and c.comment_id is null
    where a.comment_id is null and c.embedding_set = source_chunks.embedding_set
    union all
    select a.place, c.*
    from unnest(source_chunks.project_ids, source_chunks.ticket_ids, source_chunks.comment_ids)
      with ordinality as a(project_id, ticket_id, comment_id, place)
    join public.chunks c on c.comment_id = a.comment_id and c.ticket_id = a.ticket_id and c.project_id = a.project_id
    where c.embedding_set = source_chunks.embedding_set
    union all
    select a.place, c.*
    from unnest(source_chunks.project_ids, source_chunks.ticket_ids) with ordinality as a(project_id, ticket_id, place)
    join public.chunks c on c.project_id = a.project_id and c.ticket_id is null
    where a.ticket_id is null and c.embedding_set = source_chunks.embedding_set
  ) x
$$;
comment on function private.source_chunks is 'The chunks of these sources in a set, by index in the arrays.';

-- How many sources one response returns: at least the first, then more until 4 MB or the 1,000 rows
-- of hosted PostgREST are reached. Sizes are known without reading the texts.
create function private.readable_sources(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[] default null) returns integer
language sql stable security invoker set search_path = ''
as $$
  select least(coalesce(min(b.place) filter (where b.octets_before >= 4000000) - 1, count(*)), 1000)::integer
  from (
    select a.place, sum(
        coalesce(octet_length(p.description), 0) + coalesce(octet_length(t.name), 0) + coalesce(octet_length(t.description), 0)
        + coalesce(octet_length(c.body), 0)
        + coalesce((select sum(octet_length(s.note)) from public.status_changes s where s.ticket_id = t.ticket_id), 0)
      ) over (order by a.place rows between unbounded preceding and 1 preceding) as octets_before
    from unnest(readable_sources.project_ids, readable_sources.ticket_ids, readable_sources.comment_ids)
      with ordinality as a(project_id, ticket_id, comment_id, place)
    left join public.projects p on p.project_id = a.project_id and a.ticket_id is null
    left join public.tickets t on t.ticket_id = a.ticket_id and a.comment_id is null
    left join public.comments c on c.comment_id = a.comment_id
  ) b
$$;
comment on function private.readable_sources is 'How many sources, from the first one, read_sources returns in one call.';

create function public.read_sources(
  project_ids bigint[], ticket_ids bigint[], embedding_set smallint default null, comment_ids bigint[] default null
)
returns table (
  project_id bigint, ticket_id bigint, project_name text, ticket_name text, texts jsonb, source_hash text, chunks jsonb,
  embedding_set smallint, embedding_model text, building_set smallint, building_chunking integer, sources_read integer,
  comment_id bigint, comment_heading text
)
language sql stable security invoker set search_path = ''
as $$
  with asked as materialized (
    select case when w.wanted = s.serving or w.building is not null then w.wanted end as wanted,
      case when w.wanted = s.serving then s.model else s.other_model end as model,
      w.building, case when w.building is not null then s.other_chunking end as chunking,
      private.readable_sources(read_sources.project_ids, read_sources.ticket_ids, read_sources.comment_ids) as sources
    from private.embedding_sets s
    cross join lateral (
      select coalesce(read_sources.embedding_set, s.serving) as wanted,
        case when s.other_state = 'building' then (3 - s.serving)::smallint end as building) w
  ), present as (
    select c.place, jsonb_agg(jsonb_build_object(
        'chunk_id', c.chunk_id, 'input_hash', c.input_hash, 'model', c.model, 'status_change_id', c.status_change_id,
        'position', c.position
      ) order by c.position) as chunks
    from private.source_chunks(
      read_sources.project_ids[:(select a.sources from asked a)], read_sources.ticket_ids[:(select a.sources from asked a)],
      read_sources.comment_ids[:(select a.sources from asked a)], (select a.wanted from asked a)) c
    group by c.place
  )
  select s.project_id, s.ticket_id, s.project_name, s.ticket_name, s.texts, s.source_hash, coalesce(p.chunks, '[]'),
    a.wanted, a.model, a.building, a.chunking, a.sources,
    s.comment_id, s.comment_heading
  from private.source_texts(
    read_sources.project_ids[:(select a.sources from asked a)], read_sources.ticket_ids[:(select a.sources from asked a)],
    read_sources.comment_ids[:(select a.sources from asked a)]) s
  cross join asked a
  left join present p using (place)
  order by s.place
$$;
comment on function public.read_sources is
  'For each source (a ticket, a project''s own text if ticket_id is null, or with comment_id a comment on that ticket): the names and texts to chunk, the heading of a comment, their fingerprint, and the chunks stored in a set (by default the serving one), in order. The arrays are parallel; comment_ids may be omitted. A source that does not exist has no row. sources_read: how many sources, from the first one, are included; if they are too many or too long for one response, call again for the rest. embedding_set: that set, null if it is neither serving nor being built; embedding_model: the model that its vectors must have, null if undecided; building_set and building_chunking: the set being built, null if there is none.';

insert into private.migrations (version) values ('20260101000700');
