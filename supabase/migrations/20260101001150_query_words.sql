-- The words of a query with what they are worth: the rarer, the more.

create function private.word_entries(words text[])
returns table (word text, entries bigint, titles bigint, title_words bigint, body_words bigint)
language plpgsql stable rows 8 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
return query
  select w.word, coalesce(sum(c.entries), 0)::bigint, coalesce(sum(c.titles), 0)::bigint,
    coalesce(sum(c.title_words), 0)::bigint, coalesce(sum(c.body_words), 0)::bigint
  from unnest(word_entries.words) as w(word)
  left join lateral (
    select k.entries, k.titles, k.title_words, k.body_words from private.word_counts k where k.word = w.word
    union all
    select g.entries, g.titles, g.title_words, g.body_words from private.word_count_changes g where g.word = w.word
  ) c on true
  group by w.word;
end
$$;
comment on function private.word_entries(text[]) is 'In how many entries and titles each word is; for the empty word, the number of entries and their lengths.';
revoke execute on function private.word_entries(text[]) from public;

-- A word is known to whoever sees an entry that holds it. One that stands only in what they may not see is as one that nobody
-- wrote: a search that takes the one for a slip of the pen and not the other would tell them apart. What many entries hold
-- is not looked up, and nobody's secret.
create function private.is_known(word text, entries bigint, visible bigint[]) returns boolean
-- The index knows where a word is, whatever the statistics say.
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off
as $$
begin
  return entries > 0 and (visible is null or entries > 200 or exists (
    select 1 from public.keyword_entries e
    where e.words @@ private.quote_word(is_known.word)::tsquery and e.project_id = any (visible)));
end
$$;
comment on function private.is_known(text, bigint, bigint[]) is 'Whether a word that so many entries hold is in one of these projects (null: all); taken for granted beyond 200 entries.';
revoke execute on function private.is_known(text, bigint, bigint[]) from public;

-- The known words nearest to one that no entry holds, by shared trigrams. A word with a digit is a code: another code is
-- another thing.
create function private.nearest_words(unknown_word text, visible bigint[])
returns table (word text, entries bigint, titles bigint, similarity double precision)
language sql stable rows 3 security invoker set search_path = ''
as $$
  select p.word, e.entries, e.titles, p.similarity
  from (
    select n.word, max(n.similarity) as similarity
    from (
      select c.word, extensions.similarity(c.word, nearest_words.unknown_word)::double precision as similarity
      from private.word_counts c
      where length(c.word) between 4 and 40 and c.word operator(extensions.%) nearest_words.unknown_word
      union all
      select g.word, extensions.similarity(g.word, nearest_words.unknown_word)
      from private.word_count_changes g
      where length(g.word) between 4 and 40 and g.word operator(extensions.%) nearest_words.unknown_word
    ) n
    where length(nearest_words.unknown_word) between 4 and 40 and nearest_words.unknown_word !~ '[0-9]' and n.word !~ '[0-9]'
      and n.similarity >= 0.45
    group by n.word
    order by 2 desc, 1
    -- Who does not see everything may not see the nearest.
    limit case when nearest_words.visible is null then 3 else 20 end
  ) p
  cross join lateral private.word_entries(array[p.word]) e
  where private.is_known(p.word, e.entries, nearest_words.visible)
  order by p.similarity desc, p.word
  limit 3
$$;
comment on function private.nearest_words(text, bigint[]) is 'At most three words known in these projects (null: all) that share trigrams with an unknown one, the nearest first.';
revoke execute on function private.nearest_words(text, bigint[]) from public;

-- idf as in BM25 (Robertson and Zaragoza 2009). A word that stands in for an unknown one is worth half of what its
-- likeness leaves. Of a long text the 32 rarest words count.
create function private.query_words(query_text text, visible bigint[])
returns table (word text, place integer, entries bigint, titles bigint, idf double precision)
language plpgsql stable rows 8 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
return query
  with asked as (
    select u.lexeme as word, u.positions[1]::integer as place from unnest(private.to_words(query_words.query_text)) u
  ), counted as (
    select a.word, a.place, e.entries, e.titles, private.is_known(a.word, e.entries, visible) as is_known
    from asked a join private.word_entries(array(select x.word from asked x)) e using (word)
  ), known as (
    select c.word, c.place, c.entries, c.titles, 1.0::double precision as worth from counted c where c.is_known
    union all
    select n.word, u.place, n.entries, n.titles, n.similarity / 2
    from (select c.word, c.place from counted c where not c.is_known order by c.place limit 8) u
    cross join lateral private.nearest_words(u.word, visible) n
  ), total as (
    select greatest(t.entries, 1) as entries from private.word_entries(array['']) t
  )
  select distinct on (k.entries, k.word) k.word, k.place, k.entries, k.titles,
    k.worth * ln(1 + greatest(t.entries - k.entries, 0.0) / (k.entries + 0.5) + 0.5 / (k.entries + 0.5))
  from known k cross join total t
  order by k.entries, k.word, k.worth desc, k.place
  limit 32;
end
$$;
comment on function private.query_words(text, bigint[]) is 'The words of a query that are known in these projects (null: all), rarest first, each with its place in the query, in how many entries and titles it is, and its weight.';
revoke execute on function private.query_words(text, bigint[]) from public;
