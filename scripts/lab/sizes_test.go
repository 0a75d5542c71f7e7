package main

import "testing"

func TestReach(t *testing.T) {
	functions := readFunctions(`
create function public.search() returns integer
language sql
as $$
  select tasklens.one() + tasklens.two(tasklens.one())
$$;
create function tasklens.one() returns integer
language sql
return 1;
create function tasklens.two(value integer) returns integer
language sql
as $$ select tasklens.three(value) + tasklens.two(0) $$;
create function tasklens.three(value integer) returns integer
language sql
as $$
  select count(*) from public.tickets
$$;
create function tasklens.unused() returns void
language sql
as $$
$$;
`)
	if len(functions) != 5 || functions[0].lines != 5 || functions[1].lines != 3 {
		t.Fatalf("functions = %+v", functions)
	}
	if reached, chain := reach(functions, "public.search"); reached != 4 || chain != 3 {
		t.Errorf("reach = %d functions, chain of %d; want 4 and 3", reached, chain)
	}
}
