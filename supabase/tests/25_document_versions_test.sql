-- The version of the documents: what moves it, and what does not.

begin;
select plan(9);
insert into public.documents (id, title) values ('00000000-0000-4000-8000-000000000001', 'One');

create function pg_temp.moved(statement text) returns bigint[]
language plpgsql as $$
begin
  delete from private.data_version_changes;
  execute statement;
  return array(select c.project_id from private.data_version_changes c order by c.project_id);
end
$$;

select is(pg_temp.moved($$ insert into public.documents (title) values ('Two') $$), '{-1}', 'a new document does');
select is(pg_temp.moved($$ update public.documents set content = 'new' where title = 'Two' $$), '{-1}', 'a new text');
select is(pg_temp.moved($$ update public.documents set archived = true where title = 'Two' $$), '{-1}', 'archiving');
select is(pg_temp.moved($$ update public.documents set embedding_status = 'complete' $$), '{-1}', 'being embedded');
select is(pg_temp.moved($$ insert into public.embeddings (document_id, model, embedding)
  select id, 'm', (array[1]::double precision[] || array_fill(0::double precision, array[767]))::extensions.vector from public.documents $$), '{-1}', 'a vector');
select is(pg_temp.moved($$ select public.track_document_retrieval('00000000-0000-4000-8000-000000000001', 'q'), public.rate_document('00000000-0000-4000-8000-000000000001', true) $$),
  '{}', 'a retrieval and a vote do not');
select is(pg_temp.moved($$ update public.documents set keywords = '{k}', temporal_class = 'dated' $$), '{}', 'nor what an enrichment writes');
select is(pg_temp.moved($$ delete from public.documents where title = 'Two' $$), '{-1}', 'a deletion does');
select is(pg_temp.moved($$ truncate public.documents cascade $$), '{0}', 'and emptying the table');

select * from finish();
rollback;
