-- Candidates of the document search by keywords, usefulness and age.

-- The index contains every substring of up to 3 characters. A text of 1 to 3 characters is one of
-- them; a longer text can only be contained where all its 3-character substrings are. Unlike
-- pg_trgm's trigrams, these include "c++" and "go".
create function tasklens.pieces(texts text[], shortest integer default 1) returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(array_agg(distinct substr(t.text, s.start, s.length)), '{}')
  from (select lower(x) as text from unnest(pieces.texts) x) t
  cross join lateral (
    select start, length from generate_series(1, length(t.text)) start, generate_series(1, 3) length
    where start + length - 1 <= length(t.text) and length >= least(pieces.shortest, length(t.text))
  ) s
$$;
comment on function tasklens.pieces is
  'All substrings of 1 to 3 characters, in lower case; with shortest 3, those that any text containing one of these must have.';

create index documents_keyword_pieces_idx on public.documents using gin (tasklens.pieces(keywords)) where not archived and embedding_status = 'complete';

-- If more documents exceed the threshold than are scored one by one, the best by score may not be
-- among the nearest: a document of similarity s can reach similarity_weight * s plus the full value
-- of everything else.

create function tasklens.document_candidates(query_keywords text[], document_limit integer)
returns table (document_id uuid)
language sql stable rows 4500 security definer set search_path = ''
as $$
  select c.id
  from (
    (select d.id from public.documents d
      where not d.archived and d.embedding_status = 'complete' and d.utility_score > 0
      order by d.utility_score desc, d.id
      limit document_candidates.document_limit)
    union
    (select d.id from public.documents d
      where not d.archived and d.embedding_status = 'complete'
      order by d.created_at desc, d.id
      limit document_candidates.document_limit)
    union
    (select m.id
      from unnest(document_candidates.query_keywords) as w(word)
      cross join lateral (
        select d.id, d.utility_score, d.created_at from public.documents d
        where not d.archived and d.embedding_status = 'complete' and tasklens.pieces(d.keywords) @> tasklens.pieces(array[w.word], 3)
        limit 10000
      ) m
      group by m.id
      order by count(*) desc, max(m.utility_score) desc, max(m.created_at) desc, m.id
      limit document_candidates.document_limit)
  ) c
  -- A caller without projects sees no documents.
  where (select tasklens.projects_as('viewer')) is distinct from '{}'
$$;
comment on function tasklens.document_candidates is
  'Visible documents whatever their similarity: the most useful, the newest, and those with most of the keywords.';

insert into tasklens.migrations (version) values ('20261127001145');
