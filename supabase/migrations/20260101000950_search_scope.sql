-- What a search may look at: filters, and what whoever asks may see.

-- A filter that is blank, as an empty drop-down sends it, is none. Trimmed of Unicode white space.
create function private.filter_text(filter text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select nullif(btrim(filter, U&' \0009\000A\000B\000C\000D\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000'), '')
$$;
comment on function private.filter_text(text) is 'A filter trimmed of white space; null where it is blank.';
revoke execute on function private.filter_text(text) from public;
grant execute on function private.filter_text(text) to authenticated, service_role;

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
  status_filter := private.filter_text(status_filter);
  if status_filter is not null then
    select s.status_id into status_id from public.status s where lower(s.name) = lower(status_filter);
  end if;
  is_empty := coalesce(cardinality(projects) = 0, false) or status_filter is not null and status_id is null;
end
$$;
comment on function private.resolve_scope(bigint, text) is
  'The projects that pass a filter and that whoever asks may see (null: all), the state that a filter names (null: any), and whether nothing can pass.';
revoke execute on function private.resolve_scope(bigint, text) from public;

insert into private.migrations (version) values ('20260101000950');
