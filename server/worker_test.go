package main

import (
	"context"
	"testing"
)

// Both commands embed rows written while they run, and stop on request.
func TestVerbsKeepChunksInStep(t *testing.T) {
	for name, verb := range map[string]func(context.Context, []string) error{"serve": serve, "worker": work} {
		t.Run(name, func(t *testing.T) {
			owner, settings := startStack(t)
			setEnvironment(t, settings)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- verb(ctx, nil) }()
			if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name) values ('P', 'Pumps')`); err != nil {
				t.Fatal(err)
			}
			await(t, owner, 1, `select count(*) from public.chunks`)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
