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
revoke all on public.comment_entries from anon, authenticated;
grant select on public.comment_entries to authenticated, service_role;
create policy read_comment_entries on public.comment_entries for select to authenticated
  using (project_id = any ((select private.visible_projects())::bigint[]));

create function private.refresh_comment_entries(comment_ids bigint[]) returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.comment_entries (comment_id, ticket_id, project_id, words, length)
  select c.comment_id, t.ticket_id, t.project_id, i.words, i.body_length
  from public.comments c
  join public.tickets t on t.ticket_id = c.ticket_id
  cross join lateral private.index_words('', '', c.body) i
  where c.comment_id = any (refresh_comment_entries.comment_ids)
  order by c.comment_id
  on conflict (comment_id) do update
    set ticket_id = excluded.ticket_id, project_id = excluded.project_id, words = excluded.words, length = excluded.length
    where (comment_entries.ticket_id, comment_entries.project_id, comment_entries.words)
      is distinct from (excluded.ticket_id, excluded.project_id, excluded.words)
$$;
comment on function private.refresh_comment_entries is 'Rewrites the words of these comments. Ids without a comment are ignored.';

create function private.count_comment_words() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    insert into private.word_count_changes (word, entries, titles, comments, comment_words)
    select u.lexeme, 0, 0, count(*), 0 from new_rows n, unnest(n.words) u group by u.lexeme
    union all
    select '', 0, 0, count(*), sum(n.length) from new_rows n having count(*) > 0;
  elsif tg_op = 'DELETE' then
    -- The deletion of a ticket without comments also fires this trigger.
    if not exists (select from old_rows) then
      return null;
    end if;
    insert into private.word_count_changes (word, entries, titles, comments, comment_words)
    select u.lexeme, 0, 0, -count(*), 0 from old_rows o, unnest(o.words) u group by u.lexeme
    union all
    select '', 0, 0, -count(*), -sum(o.length) from old_rows o;
  elsif tg_op = 'TRUNCATE' then
    delete from private.word_count_changes c where c.comments <> 0 or c.comment_words <> 0;
    delete from private.word_counts c where c.entries = 0 and c.comments <> 0;
    update private.word_counts c set comments = 0, comment_words = 0 where c.comments <> 0 or c.comment_words <> 0;
    perform private.change_data_version('{0}');
  else
    insert into private.word_count_changes (word, entries, titles, comments, comment_words)
    select d.word, 0, 0, sum(d.comments), sum(d.comment_words)
    from (
      select u.lexeme as word, 1 as comments, 0 as comment_words from new_rows n, unnest(n.words) u
      union all
      select u.lexeme, -1, 0 from old_rows o, unnest(o.words) u
      union all
      select '', 0, n.length from new_rows n
      union all
      select '', 0, -o.length from old_rows o
    ) d
    group by d.word
    having (sum(d.comments), sum(d.comment_words)) is distinct from (0::bigint, 0::bigint);
  end if;
  perform private.merge_gathered_words();
  return null;
end
$$;
comment on function private.count_comment_words is 'Trigger: records the differences in word counts from changed comments.';

insert into private.migrations (version) values ('20260101000620');
