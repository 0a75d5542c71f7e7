-- Substring search with an index.

-- The index contains every substring of up to 3 characters. A text of 1 to 3 characters is one of
-- them; a longer text can only be contained where all its 3-character substrings are. Unlike
-- pg_trgm's trigrams, these include "c++" and "go".
create function private.pieces(texts text[]) returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(array_agg(distinct substr(t.text, s.start, s.length)), '{}')
  from (select lower(x) as text from unnest(pieces.texts) x) t
  cross join lateral (
    select start, length from generate_series(1, length(t.text)) start, generate_series(1, 3) length
    where start + length - 1 <= length(t.text)
  ) s
$$;
comment on function private.pieces is 'All substrings of 1 to 3 characters of some texts, in lower case.';

create function private.needed_pieces(text text) returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select array(
    select distinct substr(lower(needed_pieces.text), start, 3)
    from generate_series(1, greatest(1, length(needed_pieces.text) - 2)) start)
$$;
comment on function private.needed_pieces is 'The substrings of a text that every text containing it must have.';

create index documents_keyword_pieces_idx on public.documents using gin (private.pieces(keywords)) where not archived and embedding_status = 'complete';

insert into private.migrations (version) values ('20260101003130');
