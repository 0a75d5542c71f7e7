-- When a similar ticket is called a likely duplicate.

-- The calibration that judged queries of the operator give. It contains no texts.
create table private.duplicate_calibrations (
  embedding_model text primary key,
  duplicate_threshold double precision check (duplicate_threshold between 0 and 1),
  slope double precision not null check (slope > 0 and slope < 'infinity'),
  intercept double precision not null check (intercept > '-infinity' and intercept < 'infinity'),
  results integer not null check (results > 0),
  duplicates integer not null check (duplicates > 0),
  measured_at timestamptz not null default now()
);
comment on table private.duplicate_calibrations is 'For each model, the probability that a similar ticket with some duplicate_score is a duplicate.';
comment on column private.duplicate_calibrations.duplicate_threshold is 'The lowest duplicate_score of a likely duplicate; null: the default.';
comment on column private.duplicate_calibrations.slope is 'The probability is 1 / (1 + exp(-(slope × duplicate_score + intercept))).';
comment on column private.duplicate_calibrations.results is 'The number of judged results that it was fitted to; duplicates: the number of duplicates among them.';

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
comment on function public.store_duplicate_calibration is
  'Stores the calibration of a model, replacing the former one. Without duplicate_threshold the default applies.';

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
  out unrelated double precision, out threshold double precision, out slope double precision, out intercept double precision
)
language plpgsql stable security definer set search_path = ''
as $$
declare
  usual constant double precision := 0.5;
begin
  unrelated := private.unrelated_similarity(duplicate_rule.embedding_model);
  select d.duplicate_threshold, d.slope, d.intercept into threshold, slope, intercept
    from private.duplicate_calibrations d where d.embedding_model = duplicate_rule.embedding_model;
  if threshold is null and (unrelated > 0 or exists (
    select 1 from private.match_thresholds m where m.embedding_model = duplicate_rule.embedding_model and m.dimensions = 1536))
  then
    threshold := usual;
  end if;
end
$$;
comment on function private.duplicate_rule is
  'How similar tickets are scored for a model: the cosine of unrelated texts, the lowest score of a likely duplicate (null: only copies are), and slope and intercept of the probability (null: not calibrated).';

insert into private.migrations (version) values ('20260101001645');
