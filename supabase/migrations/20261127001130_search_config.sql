-- The weights of the hybrid search of documents.

create table public.search_config (
  only_row boolean primary key default true check (only_row),
  similarity_weight double precision not null default 0.50 check (similarity_weight between 0 and 1),
  keyword_weight double precision not null default 0.25 check (keyword_weight between 0 and 1),
  utility_weight double precision not null default 0.15 check (utility_weight between 0 and 1),
  freshness_weight double precision not null default 0.10 check (freshness_weight between 0 and 1),
  evergreen_weight double precision not null default 1.0 check (evergreen_weight between 0 and 1),
  current_weight double precision not null default 1.0 check (current_weight between 0 and 1),
  dated_weight double precision not null default 0.7 check (dated_weight between 0 and 1),
  historical_weight double precision not null default 0.5 check (historical_weight between 0 and 1),
  unknown_weight double precision not null default 1.0 check (unknown_weight between 0 and 1),
  -- Keeps every score at or below 1.
  constraint search_config_weights_check check (abs(similarity_weight + keyword_weight + utility_weight + freshness_weight - 1) < 1e-9)
);
comment on table public.search_config is
  'The weights of search_documents_hybrid, in one row.';
insert into public.search_config default values;

alter table public.search_config enable row level security;
revoke all on public.search_config from anon, authenticated, service_role;
grant select, update on public.search_config to service_role;
grant select on public.search_config to authenticated;
create policy read_search_config on public.search_config for select to authenticated
  using ((select auth.uid()) is not null);

insert into tasklens.migrations (version) values ('20261127001130');
