-- When a similar ticket is called a likely duplicate.

-- What judged pairs of the user's own said about the scores of similar_tickets. Nothing of a
-- tenant's texts is in it.
create table private.duplicate_calibrations (
  embedding_model text primary key,
  duplicate_threshold double precision check (duplicate_threshold between 0 and 1),
  slope double precision not null check (slope > 0 and slope < 'infinity'),
  intercept double precision not null check (intercept > '-infinity' and intercept < 'infinity'),
  results integer not null check (results > 0),
  duplicates integer not null check (duplicates > 0),
  measured_at timestamptz not null default now()
);
comment on table private.duplicate_calibrations is 'How probable it is, for each model, that a similar ticket of some score is a duplicate.';
comment on column private.duplicate_calibrations.duplicate_threshold is 'The least score of a likely duplicate; null: the shipped one.';
comment on column private.duplicate_calibrations.slope is 'The probability is 1 / (1 + exp(-(slope × fused_score + intercept))).';
comment on column private.duplicate_calibrations.results is 'How many judged results it was fitted to; duplicates: how many of them are duplicates.';

alter table private.duplicate_calibrations enable row level security;
grant select, insert, update on private.duplicate_calibrations to service_role;

create function public.store_duplicate_calibration(
  embedding_model text, slope double precision, intercept double precision, results integer, duplicates integer,
  duplicate_threshold double precision default null
)
returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into private.duplicate_calibrations as d (embedding_model, duplicate_threshold, slope, intercept, results, duplicates)
  values (store_duplicate_calibration.embedding_model, store_duplicate_calibration.duplicate_threshold, store_duplicate_calibration.slope,
    store_duplicate_calibration.intercept, store_duplicate_calibration.results, store_duplicate_calibration.duplicates)
  on conflict (embedding_model) do update set
    (duplicate_threshold, slope, intercept, results, duplicates, measured_at) =
    (excluded.duplicate_threshold, excluded.slope, excluded.intercept, excluded.results, excluded.duplicates, excluded.measured_at)
$$;
comment on function public.store_duplicate_calibration(text, double precision, double precision, integer, integer, double precision) is
  'Keeps what judged pairs say about the scores of a model; what was known of it is replaced. Without duplicate_threshold the shipped one holds.';
revoke execute on function public.store_duplicate_calibration(text, double precision, double precision, integer, integer, double precision) from public, anon, authenticated;
grant execute on function public.store_duplicate_calibration(text, double precision, double precision, integer, integer, double precision) to service_role;

-- Parts of the fused score that vectors and words give at most. Words weigh more than in the
-- fusion of searches (convex_shares): a score is compared with that of the whole text itself here,
-- which no other text comes near to, and not with the best result's.
create function private.likeness_shares(
  out vector double precision, out keyword double precision, out fused double precision, out name double precision
)
language sql immutable security invoker set search_path = ''
as $$ select 0.3, 0.7, 0.7, 0.3 $$;
comment on function private.likeness_shares() is 'Shares of vector and keyword in the fused score of similar tickets, and of fused and name in their duplicate score; each pair adds up to 1.';
revoke execute on function private.likeness_shares() from public;
grant execute on function private.likeness_shares() to authenticated, service_role;

-- The shipped threshold counts from the level of unrelated texts, so it fits any model of which
-- that level is known, and decides nothing for another. "Security definer", so that it reads for
-- every caller.
create function private.duplicate_rule(
  embedding_model text,
  out unrelated double precision, out threshold double precision, out slope double precision, out intercept double precision
)
language plpgsql stable security definer set search_path = ''
as $$
declare
  shipped constant double precision := 0.5;
begin
  unrelated := private.unrelated_similarity(duplicate_rule.embedding_model);
  select d.duplicate_threshold, d.slope, d.intercept into threshold, slope, intercept
    from private.duplicate_calibrations d where d.embedding_model = duplicate_rule.embedding_model;
  if threshold is null and (unrelated > 0 or exists (
    select 1 from private.match_thresholds m where m.embedding_model = duplicate_rule.embedding_model and m.dimensions = 1536))
  then
    threshold := shipped;
  end if;
end
$$;
comment on function private.duplicate_rule(text) is
  'How similar tickets are scored and judged by a model: the cosine of unrelated texts, the least score of a likely duplicate (null: nothing is called one), and slope and intercept of the probability (null: not calibrated).';
revoke execute on function private.duplicate_rule(text) from public;
grant execute on function private.duplicate_rule(text) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001645');
