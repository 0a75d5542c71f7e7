-- What is embedded. A source is a ticket with its status notes, a comment, a project's own text or
-- a document. All that reads, queues and stores texts names them by source_id.

-- One row for each, made by the triggers that queue it. Writers of texts only insert: an update
-- could wait for a worker, or fail in an older snapshot. What is stored is recorded by those who
-- store it.
create table tasklens.sources (
  source_id bigint generated always as identity primary key,
  project_id bigint references public.projects on update cascade on delete cascade,
  ticket_id bigint references public.tickets on update cascade on delete cascade,
  comment_id bigint references public.comments on update cascade on delete cascade,
  document_id uuid references public.documents on update cascade on delete cascade,
  models text[] not null default '{null,null}',
  chunks integer[] not null default '{0,0}',
  truncated boolean not null default false,
  check (num_nonnulls(project_id, ticket_id, comment_id, document_id) = 1)
)
with (fillfactor = 85);
comment on table tasklens.sources is 'What is embedded on its own: a ticket or a comment (in any project), a project''s own text, or a document.';
comment on column tasklens.sources.models is 'By set of chunks, the model of what is stored; null: nothing is. Of a document, the first is that of its own vector.';
comment on column tasklens.sources.chunks is 'By set of chunks, how many are stored. Of a document, the first.';
comment on column tasklens.sources.truncated is
  'Whether the stored chunks lack the end of a text: what follows its 200,000th character, or the 2,000th chunk.';

create unique index sources_project_id_idx on tasklens.sources (project_id) where project_id is not null;
create unique index sources_ticket_id_idx on tasklens.sources (ticket_id) where ticket_id is not null;
create unique index sources_comment_id_idx on tasklens.sources (comment_id) where comment_id is not null;
create unique index sources_document_id_idx on tasklens.sources (document_id) where document_id is not null;

-- Sources without a text have nothing to embed; they are few.
create index projects_without_text_idx on public.projects (project_id) where (name ~ '\S' or coalesce(visible_text, description) ~ '\S') is not true;
create index tickets_without_text_idx on public.tickets (ticket_id) where (name ~ '\S' or coalesce(visible_text, description) ~ '\S') is not true;
create index comments_without_text_idx on public.comments (comment_id) where (coalesce(visible_text, body) ~ '\S') is not true;

create view tasklens.source_owners with (security_invoker = on) as
select s.source_id, coalesce(s.project_id, t.project_id) as project_id, t.ticket_id, s.comment_id, s.document_id
from tasklens.sources s
left join public.comments c on c.comment_id = s.comment_id
left join public.tickets t on t.ticket_id = coalesce(s.ticket_id, c.ticket_id);
comment on view tasklens.source_owners is
  'What each source belongs to, with the project of a ticket and the ticket and project of a comment.';

create view tasklens.source_parts with (security_invoker = on) as
select s.source_id, 'project' as kind, null::bigint as status_change_id, p.name, coalesce(p.visible_text, p.description) as text
from tasklens.sources s join public.projects p on p.project_id = s.project_id
union all
select s.source_id, 'ticket', null, t.name, coalesce(t.visible_text, t.description)
from tasklens.sources s join public.tickets t on t.ticket_id = s.ticket_id
union all
select s.source_id, 'status_note', n.status_change_id, '', coalesce(n.visible_text, n.note)
from tasklens.sources s join public.status_changes n on n.ticket_id = s.ticket_id
union all
select s.source_id, 'comment', null, '', coalesce(c.visible_text, c.body)
from tasklens.sources s join public.comments c on c.comment_id = s.comment_id
union all
select s.source_id, 'document', null, d.title, coalesce(d.visible_text, d.content)
from tasklens.sources s join public.documents d on d.id = s.document_id;
comment on view tasklens.source_parts is
  'The texts of each source as readers see them, each with its name, empty where it has none: a ticket''s own and its notes, or the one of another source.';

create view tasklens.source_chunks with (security_invoker = on) as
select s.source_id, c.embedding_set, c.chunk_id, c.position, c.input_hash, c.model, c.status_change_id
from tasklens.sources s join public.chunks c on c.ticket_id = s.ticket_id and c.comment_id is null
union all
select s.source_id, c.embedding_set, c.chunk_id, c.position, c.input_hash, c.model, null::bigint
from tasklens.sources s join public.chunks c on c.comment_id = s.comment_id
union all
select s.source_id, c.embedding_set, c.chunk_id, c.position, c.input_hash, c.model, null::bigint
from tasklens.sources s join public.chunks c on c.project_id = s.project_id and c.ticket_id is null
union all
select s.source_id, null::smallint, c.chunk_id, c.position, c.input_hash, e.model, null::bigint
from tasklens.sources s
join public.document_chunks c on c.document_id = s.document_id
left join public.embeddings e on e.document_id = c.document_id and e.chunk_id = c.chunk_id;
comment on view tasklens.source_chunks is 'The chunks of each source. Documents have no sets: embedding_set is null.';

create function tasklens.ensure_sources(
  project_ids bigint[] default '{}', ticket_ids bigint[] default '{}', comment_ids bigint[] default '{}', document_ids uuid[] default '{}'
)
returns bigint[]
-- A plan cached while the table was empty would scan all of it.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
begin
  insert into tasklens.sources (project_id, ticket_id, comment_id, document_id)
  select p.project_id, null::bigint, null::bigint, null::uuid from public.projects p
  where p.project_id = any (ensure_sources.project_ids) and not exists (select from tasklens.sources s where s.project_id = p.project_id)
  union all
  select null, t.ticket_id, null, null from public.tickets t
  where t.ticket_id = any (ensure_sources.ticket_ids) and not exists (select from tasklens.sources s where s.ticket_id = t.ticket_id)
  union all
  select null, null, c.comment_id, null from public.comments c
  where c.comment_id = any (ensure_sources.comment_ids) and not exists (select from tasklens.sources s where s.comment_id = c.comment_id)
  union all
  select null, null, null, d.id from public.documents d
  where d.id = any (ensure_sources.document_ids) and not exists (select from tasklens.sources s where s.document_id = d.id)
  order by 1, 2, 3, 4
  on conflict do nothing;
  return array(
    select s.source_id from tasklens.sources s where s.project_id = any (ensure_sources.project_ids)
    union all
    select s.source_id from tasklens.sources s where s.ticket_id = any (ensure_sources.ticket_ids)
    union all
    select s.source_id from tasklens.sources s where s.comment_id = any (ensure_sources.comment_ids)
    union all
    select s.source_id from tasklens.sources s where s.document_id = any (ensure_sources.document_ids));
end
$$;
comment on function tasklens.ensure_sources is 'The sources of these projects'' own texts, tickets, comments and documents, adding missing rows.';

create function public.find_sources(sources jsonb)
returns table (place bigint, source_id bigint)
language sql volatile rows 100 security invoker set search_path = ''
as $$
  with given as materialized (
    select g.* from rows from (jsonb_to_recordset(find_sources.sources) as (
      project_id bigint, ticket_id bigint, comment_id bigint, document_id uuid)) with ordinality as g(project_id, ticket_id, comment_id, document_id, place)
  ), found as materialized (
    select unnest(tasklens.ensure_sources(
      array(select g.project_id from given g where g.ticket_id is null and g.project_id is not null),
      array(select g.ticket_id from given g where g.comment_id is null and g.ticket_id is not null),
      array(select g.comment_id from given g where g.comment_id is not null),
      array(select g.document_id from given g where g.document_id is not null))) as source_id
  )
  select g.place, o.source_id
  from found f
  join tasklens.source_owners o using (source_id)
  -- Null equals null, and the join is hashed.
  join given g on jsonb_build_array(g.project_id, g.ticket_id, g.comment_id, g.document_id) = jsonb_build_array(o.project_id, o.ticket_id, o.comment_id, o.document_id)
  order by g.place
$$;
comment on function public.find_sources is
  'The source_id of each of these: [{project_id, ticket_id, comment_id, document_id}], with the project of a ticket, and ticket and project of a comment. place is its index from 1; one that does not exist, or belongs elsewhere, has no row.';

create view tasklens.stored_chunks with (security_invoker = on) as
select s.source_id,
  array[max(c.model) filter (where c.embedding_set = 1), max(c.model) filter (where c.embedding_set = 2)] as models,
  array[count(c.chunk_id) filter (where c.embedding_set = 1), count(c.chunk_id) filter (where c.embedding_set = 2)]::integer[] as chunks
from tasklens.sources s
left join lateral (
  select coalesce(k.embedding_set, 1) as embedding_set, k.chunk_id, case when s.document_id is null then k.model end as model
  from tasklens.source_chunks k where k.source_id = s.source_id
  union all
  select 1, null, e.model from public.embeddings e where e.document_id = s.document_id and e.chunk_id is null
) c on true
group by s.source_id;
comment on view tasklens.stored_chunks is 'models and chunks as sources should have them.';

-- Called when a source is stored, and when its job ends: a note may have been deleted with its
-- chunks. Mostly nothing has changed, and no row is locked: who deletes a source would wait for it.
create function tasklens.count_chunks(source_ids bigint[]) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  changed bigint[];
begin
  changed := array(
    select s.source_id from tasklens.stored_chunks c join tasklens.sources s using (source_id)
    where c.source_id = any (count_chunks.source_ids) and (s.models, s.chunks) is distinct from (c.models, c.chunks));
  changed := array(select s.source_id from tasklens.sources s where s.source_id = any (changed) for no key update skip locked);
  update tasklens.sources s set models = c.models, chunks = c.chunks
  from tasklens.stored_chunks c
  where c.source_id = s.source_id and c.source_id = any (changed);
end
$$;
comment on function tasklens.count_chunks is 'Records the model and the number of the chunks that these sources have.';

create function tasklens.add_missing_sources() returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  perform tasklens.ensure_sources(
    array(select p.project_id from public.projects p where not exists (select from tasklens.sources s where s.project_id = p.project_id)),
    array(select t.ticket_id from public.tickets t where not exists (select from tasklens.sources s where s.ticket_id = t.ticket_id)),
    array(select c.comment_id from public.comments c where not exists (select from tasklens.sources s where s.comment_id = c.comment_id)),
    array(select d.id from public.documents d where not exists (select from tasklens.sources s where s.document_id = d.id)));
end
$$;
comment on function tasklens.add_missing_sources is 'Adds the sources that came without triggers.';

create function tasklens.recount_sources() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform tasklens.add_missing_sources();
  perform tasklens.count_chunks(array(select s.source_id from tasklens.sources s));
end
$$;
comment on function tasklens.recount_sources is
  'Adds and counts all sources, after a load without triggers or after chunks were written or deleted by hand.';

insert into tasklens.migrations (version) values ('20261127001200');
