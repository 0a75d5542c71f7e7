-- What every stored value obeys, so that every response is bounded, and times are those that JSON
-- and its readers can hold. A name of a constraint says what is wrong and in which column.

create function tasklens.are_names(names jsonb) returns boolean
language sql immutable security invoker set search_path = ''
as $$
  select length(are_names.names::text) <= 50000
    and not exists (select from jsonb_path_query(are_names.names, 'lax $[*].**') n where length(n #>> '{}') > 1000 and jsonb_typeof(n) = 'string')
$$;
comment on function tasklens.are_names is 'Whether a list of labels, keywords or entities has names of at most 1,000 characters each, and at most 50,000 as JSON.';

do $$
declare
  rule record;
begin
  for rule in
    select v.on_table, v.name, 'at_most_1000_characters' as means, 'length(%I) <= 1000' as condition
    from (values ('projects', 'name'), ('tickets', 'name'), ('tickets', 'assignee'), ('tickets', 'reporter'), ('tickets', 'ticket_type'),
      ('tickets', 'priority'), ('comments', 'author')) v(on_table, name)
    union all
    select v.*, 'at_most_1000_characters_50000_in_all', 'tasklens.are_names(to_jsonb(%I))'
    from (values ('tickets', 'labels'), ('documents', 'keywords'), ('documents', 'named_entities')) v(on_table, name)
    union all
    -- As much as a file of notes may have; an API's request has less.
    select 'documents', 'content', 'at_most_4194304_characters', 'length(%I) <= 4194304'
    union all
    select c.relname, a.attname, 'in_years_1_to_9999', case a.atttypid when 'date'::regtype then '%I between ''0001-01-01'' and ''9999-12-31'''
      else '%I >= ''0001-01-01 00:00Z'' and %I < ''9999-12-31 24:00Z''' end
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('date'::regtype, 'timestamptz'::regtype)
  loop
    execute format('alter table public.%I add constraint %I check (' || replace(rule.condition, '%I', '%3$I') || ')',
      rule.on_table, concat_ws('_', rule.on_table, rule.name, rule.means), rule.name);
  end loop;
end
$$;

insert into tasklens.migrations (version) values ('20261127001380');
