-- Vectors with known similarities. A test includes this file (\ir) in its transaction.

-- A chunk's vector that starts with these numbers and is zero elsewhere.
create function pg_temp.unit(variadic numbers double precision[]) returns extensions.vector
language sql as $$ select (numbers || array_fill(0::double precision, array[1536 - cardinality(numbers)]))::extensions.vector $$;
