-- Marks the words of a query in a text, as HTML that is safe to show.

create function private.highlight(text text, wanted tsquery) returns text
language plpgsql stable security invoker set search_path = ''
as $$
declare
  -- ts_headline swallows what looks like markup (Vec<T>), so <, > and & are stood in for by private-use characters
  -- while it works, as are its marks; only then do they become the entities and tags that they stand for.
  plain constant text := translate(left(text, 20000), u&'<>&\E000\E001\E002\E003\E004', u&'\E002\E003\E004');
  line constant text := case when wanted is null then left(plain, 200)
    else ts_headline('private.words', plain, wanted,
      u&'StartSel="\E000", StopSel="\E001", MaxWords=30, MinWords=12, ShortWord=0, MaxFragments=2, FragmentDelimiter=" … "') end;
begin
  return replace(replace(replace(replace(replace(replace(replace(line,
    u&'\E002', '&lt;'), u&'\E003', '&gt;'), u&'\E004', '&amp;'), '"', '&quot;'), '''', '&#39;'),
    u&'\E000', '<mark>'), u&'\E001', '</mark>');
end
$$;
comment on function private.highlight(text, tsquery) is 'An HTML-escaped excerpt of a text with <mark> around the words of the query.';
revoke execute on function private.highlight(text, tsquery) from public;
grant execute on function private.highlight(text, tsquery) to authenticated, service_role;

-- The chunk of a ticket or project that its words speak for: best full-text rank, the first of equals.
create function private.best_chunk_by_words(of_project bigint, of_ticket bigint, wanted tsquery)
returns table (chunk_id uuid, text text)
language plpgsql stable rows 1 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  select c.chunk_id, c.text
  from (
    select x.*, count(*) over () as chunks
    from (
      select c.chunk_id, c.text, c.position from public.chunks c
      where c.ticket_id = of_ticket and c.embedding_set = (select private.searched_set(null))
      union all
      select c.chunk_id, c.text, c.position from public.chunks c
      where of_ticket is null and c.project_id = of_project and c.ticket_id is null
        and c.embedding_set = (select private.searched_set(null))
      -- A ticket of thousands of chunks is not ranked whole for the sake of an excerpt.
      order by 3 limit 50
    ) x
  ) c
  -- Most have one chunk, which needs no ranking. Words are what private.highlight will see as words.
  order by case when wanted is null or c.chunks = 1 then 0 else ts_rank(to_tsvector('private.words', c.text), wanted) end desc, c.position
  limit 1;
end
$$;
comment on function private.best_chunk_by_words(bigint, bigint, tsquery) is 'The chunk of a ticket (or project, of_ticket null) that matches the words best, among its first 50.';
revoke execute on function private.best_chunk_by_words(bigint, bigint, tsquery) from public;
grant execute on function private.best_chunk_by_words(bigint, bigint, tsquery) to authenticated, service_role;
