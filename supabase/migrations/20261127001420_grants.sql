-- The end: limits of times, and all grants of functions. No other migration grants or revokes a
-- function's execution. A function of tasklens that is not listed is for its owner alone: triggers,
-- and helpers of "security definer" functions. An expression of an index is evaluated with the
-- rights of the writer, hence "PUBLIC".

-- A function of public that is not listed is the service's.

revoke execute on all routines in schema tasklens from PUBLIC;

do $$
declare
  granted record;
begin
  for granted in select unnest(i.functions) as name from tasklens.installation i loop
    -- By name: an error if there is none, or more than one of it.
    execute format('revoke execute on function public.%I from PUBLIC, anon, authenticated, service_role', granted.name);
    execute format('grant execute on function public.%I to service_role', granted.name);
  end loop;
  for granted in
    select l.schema, l.callers, f.name
    from (values
      ('public', 'authenticated, service_role', '{
        caller_role, count_tickets, data_version, find_documents_by_entity, find_filter_values, find_similar_documents, find_similar_tickets,
        find_similar_tickets_batch, get_document, get_ticket, list_projects, list_statuses, list_tickets, may_write_project, nearest_chunks,
        rate_document, read_query, retrieve_chunks, search_by_keyword, search_by_vector, search_documents, search_documents_hybrid, search_facets,
        search_hybrid, set_project_language, similar_tickets, similar_tickets_batch, visible_texts}'),
      ('tasklens', 'authenticated, service_role', '{
        check_arguments, clamp, combine_items, combine_keywords, compose_text, cut_text,
        document_queries, filter_range, filter_text, explain_query, find_chunks, find_entities, find_matches, find_page,
        find_similar, find_ticket, highlight, is_unrestricted, other_words, match_names, part_names, plain_text, projects_as, rank_documents,
        read_data_version, read_filters, read_words, scan_embeddings, searched_set, serving_model, specifics, tally_tickets, text_limit,
        ticket_fields, ticket_members, unrelated_similarity, unspaced_scripts, without_form, word_mark}'),
      ('tasklens', 'service_role', '{
        add_missing_sources, count_chunks, enqueue_sources, ensure_sources, entity_names, index_former_languages, language_of, lock_sources,
        mark_documents, missing_sources, pieces, present_parts, source_texts, unlisted_rows, write_tickets}'),
      ('tasklens', 'PUBLIC', '{
        are_names, fold_labels, name_words, visible_text}'),
      -- They run what they are given with the owner's rights.
      ('public', 'current_user', '{
        attach_tables, detach_tables}')
    ) l(schema, callers, names)
    cross join unnest(l.names::text[]) as f(name)
  loop
    execute format('revoke execute on function %I.%I from PUBLIC, anon, authenticated, service_role', granted.schema, granted.name);
    execute format('grant execute on function %I.%I to %s', granted.schema, granted.name, granted.callers);
  end loop;
end
$$;

-- Internal tables have no policies: only their owner, and the service within its grants, reads
-- them.
do $$
declare
  internal text;
begin
  for internal in select c.oid::regclass::text from pg_catalog.pg_class c where c.relnamespace = 'tasklens'::regnamespace and c.relkind = 'r' loop
    execute format('alter table %s enable row level security', internal);
  end loop;
end
$$;

-- Times are those that JSON and its readers can hold.
do $$
declare
  moment record;
begin
  for moment in
    select c.relname as on_table, a.attname as name, a.atttypid = 'date'::regtype as is_date
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('date'::regtype, 'timestamptz'::regtype)
  loop
    execute format('alter table public.%I add constraint %I check (' || case when moment.is_date then '%3$I between ''0001-01-01'' and ''9999-12-31'')'
      else '%3$I >= ''0001-01-01 00:00Z'' and %3$I < ''9999-12-31 24:00Z'')' end,
      moment.on_table, concat_ws('_', moment.on_table, moment.name, 'in_years_1_to_9999'), moment.name);
  end loop;
end
$$;

-- What check_installation compares with. A later migration adds its own parts in the same way.
insert into tasklens.installed_parts select p.kind, p.part, p.on_table, p.definition from tasklens.present_parts() p;

insert into tasklens.migrations (version) values ('20261127001420');
