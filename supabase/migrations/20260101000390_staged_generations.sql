-- Chunks that are stored but hidden. A source with more chunks than one statement can write is
-- stored in parts that share a generation. Readers skip the generation until its row is deleted
-- here, in one short transaction.

create table private.staged_generations (
  generation bigint generated always as identity primary key,
  project_id bigint references public.projects on delete cascade,
  ticket_id bigint,
  comment_id bigint references public.comments on delete cascade,
  document_id uuid,
  embedding_set smallint check (embedding_set in (1, 2)),
  staged_at timestamptz not null default clock_timestamp(),
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade,
  -- One per source and set: a retry finds the chunks whose embeddings are already paid for.
  unique nulls not distinct (project_id, ticket_id, comment_id, embedding_set, document_id),
  check (num_nonnulls(project_id, document_id) = 1)
);
comment on table private.staged_generations is 'Generations of chunks that are hidden from readers. Deleting a row makes its chunks visible.';
comment on column private.staged_generations.ticket_id is 'Null: a project''s own text, or a document.';
comment on column private.staged_generations.comment_id is 'Null: a ticket''s own texts.';
comment on column private.staged_generations.staged_at is 'When the last part was stored. After a day the chunks are deleted.';
create index staged_generations_comment_id_idx on private.staged_generations (comment_id);

alter table private.staged_generations enable row level security;
grant select, insert, update, delete on private.staged_generations to service_role;

-- Use as "generation is null or generation <> all ((select
-- private.hidden_generations())::bigint[])": evaluated once per statement, and skipped for chunks
-- that were never staged. Security definer: callers need no right on the table.
create function private.hidden_generations() returns bigint[]
language sql stable security definer set search_path = ''
as $$
  select coalesce(array_agg(g.generation), '{}') from private.staged_generations g
$$;
comment on function private.hidden_generations is 'The generations of chunks that readers skip.';

insert into private.migrations (version) values ('20260101000390');
