package main

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/reembed"
	"tasklens/internal/rpc"
	"tasklens/internal/worker"
)

// reembedAll embeds everything again with this program's model and chunking, in a second set beside
// the one that is searched, and switches to it when complete. An interrupted run continues where it
// stopped.
func reembedAll(ctx context.Context, args []string) error {
	flags := newFlags("reembed")
	onlyEstimate := flags.Bool("estimate", false, "only estimate the cost")
	price := flags.Float64("price", -1, "`dollars` a million tokens, where the model's are not known")
	abandon := flags.Bool("abandon", false, "give up what was begun, and remove it")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	if *onlyEstimate && *abandon {
		return fmt.Errorf("%w: give either --estimate or --abandon", errUsage)
	}
	e, err := newEmbedding(ctx)
	if err != nil {
		return err
	}
	if *abandon {
		return e.abandon(ctx)
	}
	sets, err := reembed.Read(ctx, e.db)
	if err != nil {
		return err
	}
	model := e.config.storedModel()
	if sets.OtherState != reembed.Building {
		if sets.IsBy(model) {
			fmt.Printf("Everything is embedded by %s already, with this program's chunking.\n", model)
			return e.clearRetired(ctx, sets)
		}
		if err := e.estimate(ctx, map[string]any{"embedding_model": "", "everything": true, "embedding_set": sets.Serving}, true, *price); err != nil {
			return err
		}
	} else {
		fmt.Printf("A set by %s with chunking %d was begun.\n", sets.OtherModel, sets.OtherChunking)
	}
	if *onlyEstimate {
		return nil
	}
	// A model that is unavailable would also block the indexing of edits.
	if err := e.tryModel(ctx); err != nil {
		return err
	}
	if err := e.clearRetired(ctx, sets); err != nil {
		return err
	}
	if err := e.build(ctx, model); err != nil {
		return err
	}
	fmt.Printf("Search goes by %s now. The former embeddings are being removed.\n", model)
	return reembed.Clear(ctx, e.db, e.config.RequestTimeout)
}

// build fills the second set and switches to it.
func (e embedding) build(ctx context.Context, model string) error {
	added, err := reembed.Begin(ctx, e.db, model)
	if err != nil {
		return err
	}
	fmt.Printf("%d sources were added to the queue. Search keeps using the current embeddings.\n", added)
	idle := 0 // consecutive
	return e.workOff(ctx, func(status worker.Status) (bool, error) {
		serves, err := rpc.Value[bool](ctx, e.db, "finish_reembed", nil) // if the other set is complete
		if serves || err != nil {
			return serves, err
		}
		if left(status) > 0 {
			idle = 0
			return false, nil
		}
		// The queue is empty but something is missing: either it failed or it is not queued yet.
		if err := givenUp(status); err != nil {
			return true, err
		}
		if _, err := reembed.Begin(ctx, e.db, model); err != nil {
			return true, err
		}
		// The status is slightly older than these checks.
		if idle++; idle < 5 {
			return false, nil
		}
		return true, errors.New("some sources have no chunks in the new set, and nothing is left to do: call it again")
	})
}

// clearRetired deletes the old set that an interrupted run left behind.
func (e embedding) clearRetired(ctx context.Context, sets reembed.Sets) error {
	if sets.OtherState != reembed.Retired {
		return nil
	}
	fmt.Println("The former embeddings are being removed.")
	return reembed.Clear(ctx, e.db, e.config.RequestTimeout)
}

// abandon drops the set being built. Searches never used it.
func (e embedding) abandon(ctx context.Context) error {
	was, err := rpc.Value[bool](ctx, e.db, "abandon_reembed", nil)
	if err != nil {
		return err
	}
	if !was {
		fmt.Println("No other set of embeddings is being built.")
		return nil
	}
	fmt.Println("The new embeddings are being removed. Search keeps using the current embeddings.")
	return reembed.Clear(ctx, e.db, 0)
}
