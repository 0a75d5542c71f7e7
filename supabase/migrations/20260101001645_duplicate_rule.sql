-- When a similar ticket is called a likely duplicate.

-- Keyword search weighs more here than in the fusion of searches (fuse_searches), because its score
-- is divided by that of the text itself, which other texts rarely come near, and not by the best
-- result's.
create function private.likeness_shares(
  out vector double precision, out keyword double precision, out fused double precision, out name double precision
)
language sql immutable security invoker set search_path = ''
as $$ select 0.3, 0.7, 0.7, 0.3 $$;
comment on function private.likeness_shares is 'Shares of vector and keyword in the fused score of similar tickets, and of fused and name in their duplicate score; each pair adds up to 1.';

-- The score counts cosines from that of unrelated texts, so the default threshold applies to any
-- model for which that is known, and to no other. "Security definer", because callers may not read
-- the tables.
create function private.duplicate_rule(
  embedding_model text,
  out unrelated double precision, out threshold double precision
)
language plpgsql stable security definer set search_path = ''
as $$
begin
  unrelated := private.unrelated_similarity(duplicate_rule.embedding_model);
  if unrelated > 0 or exists (
    select 1 from private.match_thresholds m where m.embedding_model = duplicate_rule.embedding_model and m.dimensions = 1536)
  then
    threshold := 0.5;
  end if;
end
$$;
comment on function private.duplicate_rule is
  'How similar tickets are scored for a model: the cosine of unrelated texts, and the lowest score of a likely duplicate (null: only copies are).';

insert into private.migrations (version) values ('20260101001645');
