-- The words of comments, one row each, so that adding one costs the same on any ticket.

create table public.comment_entries (
  comment_id bigint primary key references public.comments on delete cascade,
  ticket_id bigint not null,
  project_id bigint not null references public.projects on delete cascade,
  words tsvector not null,
  length integer not null,
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade
);
-- Stored out of line and uncompressed, like the words of keyword_entries.
alter table public.comment_entries alter column words set storage external;
comment on table public.comment_entries is 'The words of a comment (C, implied words D). project_id and ticket_id are those of its ticket.';
comment on column public.comment_entries.length is 'The length of the comment in words.';
create index comment_entries_ticket_id_idx on public.comment_entries (ticket_id, project_id, comment_id);
create index comment_entries_project_id_idx on public.comment_entries (project_id);
create index comment_entries_words_idx on public.comment_entries using gin (words);

alter table public.comment_entries enable row level security;
revoke all on public.comment_entries from anon, authenticated, service_role;
grant select on public.comment_entries to authenticated, service_role;
create policy read_comment_entries on public.comment_entries for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));

create function tasklens.refresh_comment_entries(comment_ids bigint[]) returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.comment_entries (comment_id, ticket_id, project_id, words, length)
  select c.comment_id, t.ticket_id, t.project_id, i.words, i.body_length
  from public.comments c
  join public.tickets t on t.ticket_id = c.ticket_id
  cross join lateral tasklens.index_words('', '', coalesce(c.visible_text, c.body)) i
  where c.comment_id = any (refresh_comment_entries.comment_ids)
  order by c.comment_id
  on conflict (comment_id) do update
    set ticket_id = excluded.ticket_id, project_id = excluded.project_id, words = excluded.words, length = excluded.length
    where (comment_entries.ticket_id, comment_entries.project_id, comment_entries.words)
      is distinct from (excluded.ticket_id, excluded.project_id, excluded.words)
$$;
comment on function tasklens.refresh_comment_entries is 'Rewrites the words of these comments. Ids without a comment are ignored.';

insert into tasklens.migrations (version) values ('20261127000330');
