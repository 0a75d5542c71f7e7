-- The words of comments, one row each, so that adding one costs the same on any ticket.

create table public.comment_entries (
  comment_id bigint primary key references public.comments on delete cascade,
  ticket_id bigint not null,
  project_id bigint not null references public.projects on delete cascade,
  language text not null,
  words tsvector not null,
  length integer not null,
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade
);
-- As those of keyword_entries.
alter table public.comment_entries alter column words set storage external;
comment on table public.comment_entries is 'The words of a comment (C, implied words D). project_id and ticket_id are those of its ticket.';
create index comment_entries_ticket_id_idx on public.comment_entries (ticket_id, project_id, comment_id);
create index comment_entries_project_id_idx on public.comment_entries (project_id, language);
create index comment_entries_words_idx on public.comment_entries using gin (words);

alter table public.comment_entries enable row level security;
create policy read_comment_entries on public.comment_entries for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));

create function tasklens.refresh_comment_entries(comment_ids bigint[]) returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.comment_entries (comment_id, ticket_id, project_id, language, words, length)
  select c.comment_id, t.ticket_id, t.project_id, l.language, i.words, i.body_length
  from public.comments c
  join public.tickets t on t.ticket_id = c.ticket_id
  cross join lateral (select tasklens.language_of(t.project_id) as language offset 0) l
  cross join lateral tasklens.index_words('', '', coalesce(c.visible_text, c.body), l.language) i
  where c.comment_id = any (refresh_comment_entries.comment_ids)
  order by c.comment_id
  on conflict (comment_id) do update
    set ticket_id = excluded.ticket_id, project_id = excluded.project_id, language = excluded.language, words = excluded.words, length = excluded.length
    where (comment_entries.ticket_id, comment_entries.project_id, comment_entries.language, comment_entries.words)
      is distinct from (excluded.ticket_id, excluded.project_id, excluded.language, excluded.words)
$$;
comment on function tasklens.refresh_comment_entries is 'Rewrites the words of these comments. Ids without a comment are ignored.';

create function tasklens.index_former_languages() returns bigint
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  -- A worker claims jobs after it; a long text takes a tenth of a second.
  stop constant timestamptz := clock_timestamp() + interval '0.5 seconds';
  former record;
  tickets bigint[];
  own bigint[];
  comments bigint[];
  indexed bigint := 0;
begin
  for former in select f.* from tasklens.former_languages f order by f.project_id, f.language for update skip locked loop
    if former.seen_by is null then
      update tasklens.former_languages f set seen_by = pg_current_xact_id() where (f.project_id, f.language) = (former.project_id, former.language);
    end if;
    loop
      tickets := array[]::bigint[];
      own := array[]::bigint[];
      comments := array[]::bigint[];
      if former.language <> tasklens.language_of(former.project_id) then
        -- Writers hold rows of theirs, and rewrite them.
        select coalesce(array_agg(e.ticket_id) filter (where e.ticket_id is not null), '{}'), coalesce(array_agg(e.project_id) filter (where e.ticket_id is null), '{}')
          into tickets, own
          from (
            select k.ticket_id, k.project_id from public.keyword_entries k where k.project_id = former.project_id and k.language = former.language
            limit 20 for update skip locked) e;
        comments := array(
          select m.comment_id from public.comment_entries m where m.project_id = former.project_id and m.language = former.language limit 20 for update skip locked);
      end if;
      exit when tickets = '{}' and own = '{}' and comments = '{}';
      perform tasklens.refresh_entries(tickets, own);
      perform tasklens.refresh_comment_entries(comments);
      perform tasklens.change_data_version(array[former.project_id]);
      indexed := indexed + cardinality(tickets) + cardinality(own) + cardinality(comments);
      if clock_timestamp() > stop then
        return indexed;
      end if;
    end loop;
    delete from tasklens.former_languages f
    where (f.project_id, f.language) = (former.project_id, former.language)
      and (former.language = tasklens.language_of(former.project_id)
        or f.seen_by <= pg_snapshot_xmin(pg_current_snapshot())
        and not exists (select from public.keyword_entries k where k.project_id = former.project_id and k.language = former.language)
        and not exists (select from public.comment_entries m where m.project_id = former.project_id and m.language = former.language));
  end loop;
  return indexed;
end
$$;
comment on function tasklens.index_former_languages is
  'Indexes, for half a second, texts that are still indexed in a former language of their project. Returns how many.';

insert into tasklens.migrations (version) values ('20261127000330');
