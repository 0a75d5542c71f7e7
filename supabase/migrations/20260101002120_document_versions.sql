-- What moves the version of the documents, which counts as that of project -1: texts, what is archived, and vectors.
-- Retrievals, votes and enrichments change nothing that is remembered.

create function private.version_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  moves boolean;
begin
  -- A load that writes nothing is a statement too.
  case tg_op
    when 'INSERT' then moves := exists (select from new_rows);
    when 'DELETE' then moves := exists (select from old_rows);
    else moves := exists (
      select from new_rows n full join old_rows o using (id)
      where (n.title, n.content, n.archived, n.embedding_status) is distinct from (o.title, o.content, o.archived, o.embedding_status));
  end case;
  if moves then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_documents() is 'Trigger: moves the version of documents when one is new, gone, or other than it was.';

create function private.version_document_vectors() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  moves boolean;
begin
  -- Storing a document whose chunks stayed the same writes none.
  if tg_op = 'DELETE' then
    moves := exists (select from old_rows);
  else
    moves := exists (select from new_rows n where n.generation is null);
  end if;
  if moves then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_document_vectors() is 'Trigger: moves the version of documents when a vector of theirs is written or gone.';

create function private.version_shown_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from old_rows o where o.document_id is not null) then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_shown_documents() is 'Trigger: moves the version of documents when staged chunks of theirs are shown.';

revoke execute on function private.version_documents() from public;
revoke execute on function private.version_shown_documents() from public;
revoke execute on function private.version_document_vectors() from public;

create trigger version_new_documents after insert on public.documents
  referencing new table as new_rows for each statement execute function private.version_documents();
create trigger version_updated_documents after update on public.documents
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_documents();
create trigger version_deleted_documents after delete on public.documents
  referencing old table as old_rows for each statement execute function private.version_documents();
create trigger version_new_document_vectors after insert on public.embeddings
  referencing new table as new_rows for each statement execute function private.version_document_vectors();
create trigger version_updated_document_vectors after update on public.embeddings
  referencing new table as new_rows for each statement execute function private.version_document_vectors();
create trigger version_deleted_document_vectors after delete on public.embeddings
  referencing old table as old_rows for each statement execute function private.version_document_vectors();
create trigger version_shown_document_vectors after delete on private.staged_generations
  referencing old table as old_rows for each statement execute function private.version_shown_documents();
create trigger version_emptied_documents after truncate on public.documents for each statement execute function private.version_truncated();
create trigger version_emptied_document_vectors after truncate on public.embeddings for each statement execute function private.version_truncated();

insert into private.migrations (version) values ('20260101002120');
