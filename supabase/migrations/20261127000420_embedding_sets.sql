-- Two sets of chunks: one is searched while the other is filled by another model or chunking.
-- Vectors of different sets are never compared. Each set has its own index.

create table tasklens.embedding_sets (
  only_row boolean primary key default true check (only_row),
  serving smallint not null default 1 check (serving in (1, 2)),
  model text,
  chunking integer,
  other_state text not null default 'unused' check (other_state in ('unused', 'building', 'retired')),
  other_model text,
  other_chunking integer,
  began_at timestamptz,
  check (other_state <> 'building' or num_nulls(model, other_model, other_chunking, began_at) = 0)
);
comment on table tasklens.embedding_sets is 'Which set of chunks is searched, and the state of the other one.';
comment on column tasklens.embedding_sets.serving is 'The set that is searched.';
comment on column tasklens.embedding_sets.model is 'The model of the serving set; null until the first switch of sets: the service''s setting applies.';
comment on column tasklens.embedding_sets.chunking is 'The chunking version of the serving set; null until the first switch.';
comment on column tasklens.embedding_sets.other_state is 'building: being filled. retired: to be emptied. unused: empty.';
comment on column tasklens.embedding_sets.other_model is 'The model of the other set: the next one, or the former one until the set is emptied.';
comment on column tasklens.embedding_sets.began_at is 'When building began or was resumed. Sources that were missing then were queued before.';
insert into tasklens.embedding_sets default values;

alter table tasklens.embedding_sets enable row level security;
grant select, update on tasklens.embedding_sets to service_role;

-- A query embedded just before the switch is answered by the set that it was embedded for. Security
-- definer: callers need no right on the table.
create function tasklens.searched_set(embedding_model text) returns smallint
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select case when s.other_state = 'retired' and s.other_model = searched_set.embedding_model and s.model <> searched_set.embedding_model
      then 3 - s.serving else s.serving end::smallint
    from tasklens.embedding_sets s);
end
$$;
comment on function tasklens.searched_set is 'The set that a query embedded with this model is compared with: the serving one, or the retired one if it has this model.';

create function public.embedding_sets()
returns table (serving smallint, model text, chunking integer, other_state text, other_model text, other_chunking integer, match_thresholds jsonb)
language sql stable rows 1 security definer set search_path = ''
as $$
  select s.serving, s.model, s.chunking, s.other_state, s.other_model, s.other_chunking,
    (select coalesce(jsonb_agg(to_jsonb(t) - 'measured_at' order by t.embedding_model, t.dimensions), '[]') from tasklens.match_thresholds t)
  from tasklens.embedding_sets s
$$;
comment on function public.embedding_sets is
  'The serving set, with its model (null: the service''s setting) and chunking; the state of the other set: unused, building (with other_model and other_chunking, to serve next) or retired (to be emptied); and the rows of match_thresholds as stored.';

insert into tasklens.migrations (version) values ('20261127000420');
