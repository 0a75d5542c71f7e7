-- Short ids and vectors of documents. A test includes this file (\ir) in its transaction.

create function pg_temp.doc(digit integer) returns uuid
language sql as $$ select ('00000000-0000-4000-8000-00000000000' || digit)::uuid $$;

-- A document's vector that starts with these numbers and is zero elsewhere.
create function pg_temp.unit(variadic numbers double precision[]) returns extensions.vector
language sql as $$ select (numbers || array_fill(0::double precision, array[768 - cardinality(numbers)]))::extensions.vector $$;
