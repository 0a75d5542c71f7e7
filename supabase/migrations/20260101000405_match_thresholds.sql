-- From which cosine similarity a text counts as relevant: measured once for each model and width of
-- its vectors, by a judged set that the service brings. Nothing of a tenant's is in it.

create table private.match_thresholds (
  embedding_model text not null,
  dimensions integer not null check (dimensions > 0),
  match_threshold double precision not null check (match_threshold between 0 and 1),
  right_over double precision not null,
  related_over double precision not null,
  unrelated_over double precision not null,
  right_deciles double precision[] not null,
  related_deciles double precision[] not null,
  unrelated_deciles double precision[] not null,
  judged_set text not null,
  measured_at timestamptz not null default now(),
  primary key (embedding_model, dimensions)
);
comment on table private.match_thresholds is 'The similarity threshold that fits a model, as it was measured.';
comment on column private.match_thresholds.dimensions is '1536 where tickets are compared, 768 where documents take part.';
comment on column private.match_thresholds.right_over is 'Share of the questions kept apart whose right text is over the threshold; related_over: of other texts of the topic, unrelated_over: of texts of other topics.';
comment on column private.match_thresholds.right_deciles is 'The eleven deciles of the cosines between questions and their right texts, least first; related_deciles and unrelated_deciles likewise.';
comment on column private.match_thresholds.judged_set is 'Fingerprint of the judged set.';

alter table private.match_thresholds enable row level security;
grant select, insert, update on private.match_thresholds to service_role;

create function public.store_match_thresholds(thresholds jsonb)
returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into private.match_thresholds as m (embedding_model, dimensions, match_threshold, right_over, related_over, unrelated_over,
    right_deciles, related_deciles, unrelated_deciles, judged_set)
  select t.embedding_model, t.dimensions, t.match_threshold, t.right_over, t.related_over, t.unrelated_over,
    t.right_deciles, t.related_deciles, t.unrelated_deciles, t.judged_set
  from jsonb_to_recordset(store_match_thresholds.thresholds) as t(
    embedding_model text, dimensions integer, match_threshold double precision, right_over double precision, related_over double precision,
    unrelated_over double precision, right_deciles double precision[], related_deciles double precision[], unrelated_deciles double precision[],
    judged_set text)
  order by t.embedding_model, t.dimensions
  on conflict (embedding_model, dimensions) do update set
    (match_threshold, right_over, related_over, unrelated_over, right_deciles, related_deciles, unrelated_deciles, judged_set, measured_at) =
    (excluded.match_threshold, excluded.right_over, excluded.related_over, excluded.unrelated_over, excluded.right_deciles,
      excluded.related_deciles, excluded.unrelated_deciles, excluded.judged_set, excluded.measured_at)
$$;
comment on function public.store_match_thresholds(jsonb) is
  'Keeps what was measured of models: [{embedding_model, dimensions, match_threshold, right_over, related_over, unrelated_over, right_deciles, related_deciles, unrelated_deciles, judged_set}]. What was known of a model at a width is replaced.';
revoke execute on function public.store_match_thresholds(jsonb) from public, anon, authenticated;
grant execute on function public.store_match_thresholds(jsonb) to service_role;

-- Where fusion takes the level of unrelated texts from: the one place that knows it, measured or
-- not. Nothing of a tenant's is in it, so that it reads for every caller.
create function private.unrelated_similarity(embedding_model text) returns double precision
language sql stable security definer set search_path = ''
as $$
  select least(0.99, greatest(0, coalesce(
    (select m.unrelated_deciles[6] from private.match_thresholds m
      where m.embedding_model = unrelated_similarity.embedding_model and m.dimensions = 1536),
    -- From published vectors. A stored name may say in how many dimensions the model was asked for,
    -- behind an @.
    case split_part(unrelated_similarity.embedding_model, '@', 1)
      when 'text-embedding-3-small' then 0.14
      when 'text-embedding-3-large' then 0.14
      when 'text-embedding-ada-002' then 0.65
      else 0
    end)))
$$;
comment on function private.unrelated_similarity(text) is
  'The cosine similarity of unrelated texts by a model at 1536 numbers: the median that was measured, else a documented constant, 0 for a model of which nothing is known.';
revoke execute on function private.unrelated_similarity(text) from public;
grant execute on function private.unrelated_similarity(text) to authenticated, service_role;

insert into private.migrations (version) values ('20260101000405');
