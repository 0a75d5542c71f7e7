-- What a search may look at: filters, and what whoever asks may see.

-- For the searches' own use, in functions that run as the owner of the tables ("security definer"): beneath a policy an
-- operator that is not leakproof (@@, %, ~) may use no index, and what a policy leaves of a ranked list is not the best of
-- what one may see. So the searches look past the policies, and at nothing but what is in this scope.
create function private.resolve_scope(
  project_filter bigint, status_filter text,
  out projects bigint[], out status_id bigint, out is_empty boolean
)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
begin
  projects := case
    when project_filter is null then visible
    when visible is null or project_filter = any (visible) then array[project_filter]
    else array[]::bigint[] end;
  if status_filter is not null then
    select s.status_id into status_id from public.status s where lower(s.name) = lower(status_filter);
  end if;
  is_empty := coalesce(cardinality(projects) = 0, false) or status_filter is not null and status_id is null;
end
$$;
comment on function private.resolve_scope(bigint, text) is
  'The projects that pass a filter and that whoever asks may see (null: all), the state that a filter names (null: any), and whether nothing can pass.';
revoke execute on function private.resolve_scope(bigint, text) from public;
