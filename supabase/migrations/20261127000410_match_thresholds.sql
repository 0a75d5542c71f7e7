-- The cosine similarity from which a text counts as relevant, measured once per model and vector
-- width on a judged set that comes with the service. It contains no tenant data.

create table tasklens.match_thresholds (
  embedding_model text not null,
  dimensions integer not null check (dimensions > 0),
  match_threshold double precision not null check (match_threshold between 0 and 1),
  right_over double precision not null,
  related_over double precision not null,
  unrelated_over double precision not null,
  unrelated_median double precision not null,
  judged_set text not null,
  measured_at timestamptz not null default now(),
  primary key (embedding_model, dimensions)
);
comment on table tasklens.match_thresholds is 'The measured similarity threshold of each model.';
comment on column tasklens.match_thresholds.dimensions is '1536 for tickets, 768 if documents are compared too.';
comment on column tasklens.match_thresholds.right_over is 'Share of the held-out questions whose right text is over the threshold; related_over: of other texts on the topic, unrelated_over: of texts on other topics.';
comment on column tasklens.match_thresholds.unrelated_median is 'The median cosine similarity of questions and texts on other topics.';
comment on column tasklens.match_thresholds.judged_set is 'Fingerprint of the judged set.';

alter table tasklens.match_thresholds enable row level security;
grant select, insert, update on tasklens.match_thresholds to service_role;

create function public.store_match_thresholds(thresholds jsonb)
returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into tasklens.match_thresholds as m (embedding_model, dimensions, match_threshold, right_over, related_over, unrelated_over,
    unrelated_median, judged_set)
  select t.embedding_model, t.dimensions, t.match_threshold, t.right_over, t.related_over, t.unrelated_over,
    t.unrelated_median, t.judged_set
  from jsonb_to_recordset(store_match_thresholds.thresholds) as t(
    embedding_model text, dimensions integer, match_threshold double precision, right_over double precision, related_over double precision,
    unrelated_over double precision, unrelated_median double precision,
    judged_set text)
  order by t.embedding_model, t.dimensions
  on conflict (embedding_model, dimensions) do update set
    (match_threshold, right_over, related_over, unrelated_over, unrelated_median, judged_set, measured_at) =
    (excluded.match_threshold, excluded.right_over, excluded.related_over, excluded.unrelated_over, excluded.unrelated_median,
      excluded.judged_set, excluded.measured_at)
$$;
comment on function public.store_match_thresholds is
  'Stores measured thresholds: [{embedding_model, dimensions, match_threshold, right_over, related_over, unrelated_over, unrelated_median, judged_set}]. A row for the same model and width is replaced.';

-- The only source of the similarity of unrelated texts, which fusion needs. It contains no tenant
-- data, so every caller may read it.
create function tasklens.unrelated_similarity(embedding_model text) returns double precision
language sql stable security definer set search_path = ''
as $$
  select least(0.99, greatest(0, coalesce(
    (select m.unrelated_median from tasklens.match_thresholds m
      where m.embedding_model = unrelated_similarity.embedding_model and m.dimensions = 1536),
    -- From published vectors. A stored name may end in @ and the requested dimensions.
    case split_part(unrelated_similarity.embedding_model, '@', 1)
      when 'text-embedding-3-small' then 0.14
      when 'text-embedding-3-large' then 0.14
      when 'text-embedding-ada-002' then 0.65
      else 0
    end)))
$$;
comment on function tasklens.unrelated_similarity is
  'The typical cosine similarity of unrelated texts for a model with 1536 dimensions: the measured median, else a published constant, else 0.';

insert into tasklens.migrations (version) values ('20261127000410');
