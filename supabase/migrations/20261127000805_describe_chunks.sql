-- What an answer needs of the chunks that were chosen for it: the same for every way to choose.

-- chunk_id: null for a ticket or project that is not embedded yet. document_id: of a document's
-- chunk. relevance: null where chunks are chosen by similarity alone.
create type tasklens.retrieved as (
  chunk_id uuid, ticket_id bigint, project_id bigint, document_id uuid, similarity double precision, relevance double precision, named boolean
);
comment on type tasklens.retrieved is 'A chunk chosen for an answer.';

-- The similarities let the caller apply MMR without the vectors.
create function tasklens.describe_chunks(retrieved tasklens.retrieved[], embedding_model text, dimensions integer default null)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text,
  document_id uuid, title text, kind text, text text, tokens integer, similarity double precision, relevance double precision,
  similarities real[], named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz, fields jsonb
)
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with listed as materialized (
    select r.*, c.kind, coalesce(c.text, x.text) as text, coalesce(c.tokens, x.tokens) as tokens, c.comment_id,
      -- Normalised, so that the inner product is the cosine, at half the cost. Materialised: a
      -- TOASTed vector would be decompressed for every pair, which costs more than comparing. A
      -- vector of another model cannot be compared.
      extensions.l2_normalize(case
        when r.document_id is not null then e.embedding
        when c.model is distinct from describe_chunks.embedding_model then null
        when describe_chunks.dimensions is null then c.embedding
        else extensions.subvector(c.embedding, 1, describe_chunks.dimensions) end) as embedding
    from unnest(describe_chunks.retrieved) with ordinality as r(chunk_id, ticket_id, project_id, document_id, similarity, relevance, named, place)
    left join public.chunks c on c.chunk_id = r.chunk_id and r.document_id is null
    left join public.document_chunks x on x.chunk_id = r.chunk_id and x.document_id = r.document_id
    left join public.embeddings e on e.document_id = r.document_id and e.chunk_id = r.chunk_id
    -- What was deleted meanwhile is left out.
    where r.chunk_id is null or c.chunk_id is not null or x.chunk_id is not null
  ), linked as (
    -- As links_of does, but for all tickets at once.
    select l.ticket_id, jsonb_agg(l.link order by l.place) as links
    from (
      select k.ticket_id, jsonb_build_object('kind', k.kind, 'direction', k.direction, 'ticket_key', o.key, 'ticket_name', o.name, 'status', s.name) as link,
        row_number() over (partition by k.ticket_id order by k.direction desc, k.kind, k.other) as place
      from (
        select k.ticket_id, k.kind, 'out' as direction, k.other_ticket_id as other from public.ticket_links k
        where k.ticket_id = any (array(select l.ticket_id from listed l))
        union all
        select k.other_ticket_id, k.kind, 'in', k.ticket_id from public.ticket_links k
        where k.other_ticket_id = any (array(select l.ticket_id from listed l))
      ) k
      join public.tickets o on o.ticket_id = k.other
      join public.status s using (status_id)
    ) l
    where l.place <= 20
    group by l.ticket_id
  )
  select n.chunk_id, n.ticket_id, n.project_id, p.name, t.key, t.name, s.name, n.document_id, d.title,
    coalesce(n.kind, case when n.document_id is not null then 'document' when n.ticket_id is null then 'project' else 'ticket' end),
    coalesce(n.text, tasklens.beginning_of(coalesce(t.name, p.name), case when t.ticket_id is null then coalesce(p.visible_text, p.description) else coalesce(t.visible_text, t.description) end)),
    n.tokens, n.similarity, n.relevance,
    array(select coalesce(-(n.embedding operator(extensions.<#>) m.embedding), 0)::real from listed m where m.place < n.place order by m.place),
    n.named, p.key, m.comment_id, m.author, m.created_at,
    case when t.ticket_id is not null then jsonb_build_object(
      'assignee', t.assignee, 'reporter', t.reporter, 'type', t.ticket_type, 'priority', t.priority, 'labels', t.labels, 'due_date', t.due_date,
      'created_at', t.created_at, 'updated_at', t.updated_at, 'resolved_at', t.resolved_at, 'links', k.links) end
  from listed n
  left join public.projects p on p.project_id = n.project_id
  left join public.tickets t on t.ticket_id = n.ticket_id
  left join linked k on k.ticket_id = n.ticket_id
  left join public.status s on s.status_id = t.status_id
  left join public.documents d on d.id = n.document_id
  left join public.comments m on m.comment_id = n.comment_id
  where (n.ticket_id is null or t.ticket_id is not null) and (n.project_id is null or p.project_id is not null)
  order by n.place;
end
$$;
comment on function tasklens.describe_chunks is
  'Chosen chunks in their order, with what they belong to, and the cosine similarity of each to those before it, 0 if unknown. fields: of a ticket, with its links. dimensions: how many of a ticket''s vector are compared.';

insert into tasklens.migrations (version) values ('20261127000805');
