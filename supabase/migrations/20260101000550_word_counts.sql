-- How many entries and comments contain each word: rare words weigh more. The counts are exact, and
-- writers never wait for each other: every statement appends its differences as rows, and a writer
-- occasionally merges them.

create table private.word_counts (
  word text primary key,
  entries bigint not null,
  titles bigint not null,
  title_words bigint not null default 0,
  body_words bigint not null default 0,
  comments bigint not null default 0,
  comment_words bigint not null default 0
);
comment on table private.word_counts is 'How many entries, titles and comments contain each word. The empty word''s row contains the totals and lengths.';
-- For removing words that are no longer used.
create index word_counts_unused_idx on private.word_counts (word) where entries = 0 and comments = 0;
-- For unknown words: the nearest known ones.
create index word_counts_similar_idx on private.word_counts using gin (word extensions.gin_trgm_ops) where length(word) between 4 and 40;

create table private.word_count_changes (
  word_count_change_id bigint generated always as identity primary key,
  word text not null,
  entries bigint not null,
  titles bigint not null,
  title_words bigint not null default 0,
  body_words bigint not null default 0,
  comments bigint not null default 0,
  comment_words bigint not null default 0
);
comment on table private.word_count_changes is 'Differences not yet merged into word_counts. The true count is the sum of both.';
create index word_count_changes_word_idx on private.word_count_changes (word);

alter table private.word_counts enable row level security;
alter table private.word_count_changes enable row level security;
grant select on private.word_counts, private.word_count_changes to service_role;

create function private.may_merge(what text) returns boolean
language sql volatile security invoker set search_path = ''
as $$
  -- An older snapshot could still see changes that are already merged.
  select current_setting('transaction_isolation') = 'read committed' and pg_try_advisory_xact_lock(hashtext(may_merge.what))
$$;
comment on function private.may_merge is 'Whether this transaction may merge collected changes of a kind. It holds a lock until it ends.';

-- Merges the changes, unless another transaction is doing so.
create function private.merge_word_counts() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if not private.may_merge('private.merge_word_counts') then
    return;
  end if;
  with gone as (
    delete from private.word_count_changes
    returning word_count_changes.word, word_count_changes.entries, word_count_changes.titles,
      word_count_changes.title_words, word_count_changes.body_words, word_count_changes.comments, word_count_changes.comment_words
  )
  insert into private.word_counts as c (word, entries, titles, title_words, body_words, comments, comment_words)
  select g.word, sum(g.entries), sum(g.titles), sum(g.title_words), sum(g.body_words), sum(g.comments), sum(g.comment_words) from gone g group by g.word
  on conflict (word) do update
    set entries = c.entries + excluded.entries, titles = c.titles + excluded.titles,
      title_words = c.title_words + excluded.title_words, body_words = c.body_words + excluded.body_words,
      comments = c.comments + excluded.comments, comment_words = c.comment_words + excluded.comment_words;
  delete from private.word_counts c where c.entries = 0 and c.comments = 0 and c.word <> '';
end
$$;
comment on function private.merge_word_counts is 'Merges the collected changes into word_counts. Does nothing while another transaction does it.';

create function private.merge_gathered_words() returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gathered bigint;
begin
  select max(c.word_count_change_id) - min(c.word_count_change_id) into gathered from private.word_count_changes c;
  if gathered > 5000 then
    perform private.merge_word_counts();
  end if;
end
$$;
comment on function private.merge_gathered_words is 'Merges the changes if there are too many for readers to add up.';

create function private.count_entry_words() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    insert into private.word_count_changes (word, entries, titles, title_words, body_words)
    select u.lexeme, count(*), count(*) filter (where 'A' = any (u.weights)), 0, 0 from new_rows n, unnest(n.words) u group by u.lexeme
    union all
    select '', count(*), 0, sum(n.title_length), sum(n.body_length) from new_rows n having count(*) > 0;
  elsif tg_op = 'DELETE' then
    insert into private.word_count_changes (word, entries, titles, title_words, body_words)
    select u.lexeme, -count(*), -count(*) filter (where 'A' = any (u.weights)), 0, 0 from old_rows o, unnest(o.words) u group by u.lexeme
    union all
    select '', -count(*), 0, -sum(o.title_length), -sum(o.body_length) from old_rows o having count(*) > 0;
  elsif tg_op = 'TRUNCATE' then
    -- No other changes are in progress: truncate waited for all writers of entries.
    delete from private.word_count_changes c where c.comments = 0 and c.comment_words = 0;
    update private.word_counts c set entries = 0, titles = 0, title_words = 0, body_words = 0;
    delete from private.word_counts c where c.comments = 0 and c.comment_words = 0;
    perform private.change_data_version('{0}');
  else
    insert into private.word_count_changes (word, entries, titles, title_words, body_words)
    select d.word, sum(d.entries), sum(d.titles), sum(d.title_words), sum(d.body_words)
    from (
      select u.lexeme as word, 1 as entries, ('A' = any (u.weights))::integer as titles, 0 as title_words, 0 as body_words
      from new_rows n, unnest(n.words) u
      union all
      select u.lexeme, -1, -('A' = any (u.weights))::integer, 0, 0 from old_rows o, unnest(o.words) u
      union all
      select '', 0, 0, n.title_length, n.body_length from new_rows n
      union all
      select '', 0, 0, -o.title_length, -o.body_length from old_rows o
    ) d
    group by d.word
    having (sum(d.entries), sum(d.titles), sum(d.title_words), sum(d.body_words)) is distinct from (0::bigint, 0::bigint, 0::bigint, 0::bigint);
  end if;
  perform private.merge_gathered_words();
  return null;
end
$$;
comment on function private.count_entry_words is 'Trigger: records the differences in word counts from changed entries.';

insert into private.migrations (version) values ('20260101000550');
