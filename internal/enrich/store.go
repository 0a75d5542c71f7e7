package enrich

import (
	"context"
	"fmt"

	"tasklens/internal/fault"
)

// changed is why a document is not enriched though nothing failed: it waits already to be taken with its new text.
var changed = fault.New(fault.Invalid, "Its text changed while the model read it.")

func (b *batch) call(function string, arguments map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), storeTimeout)
	defer cancel()
	return b.db.Call(ctx, function, arguments, result)
}

// store writes what was said, if it was said of the text that is still there.
func (b *batch) store(d document, said enrichment, model string) error {
	var stored bool
	err := b.call("store_enrichment", map[string]any{
		"doc_id": d.ID, "source_hash": d.SourceHash, "keywords": said.Keywords, "named_entities": said.NamedEntities,
		"temporal_class": said.TemporalClass, "model": model,
	}, &stored)
	if err != nil {
		return fmt.Errorf("store enrichment: %w", err)
	}
	if !stored {
		return changed
	}
	return nil
}

// fail keeps an error on the document, which is due again after a while. If that cannot be said either, it is due when
// its lease ends.
func (b *batch) fail(d document, failure error) {
	if failure == changed {
		return
	}
	var failed bool
	err := b.call("fail_enrichment", map[string]any{
		"doc_id": d.ID, "lease_id": d.LeaseID, "error": reason(failure), "retry_seconds": b.options.Retry.Seconds(),
	}, &failed)
	if err != nil {
		b.warn("say that a document was not enriched", err)
	}
}

// giveBack notes documents that were not tried, or whose failure says nothing of them.
func (b *batch) giveBack(documents ...document) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, d := range documents {
		b.left = append(b.left, d.LeaseID)
	}
}

// release lets others have what was given back, after the pause that the provider asked for.
func (b *batch) release() {
	if len(b.left) == 0 {
		return
	}
	var released int64
	if err := b.call("release_enrichments", map[string]any{"lease_ids": b.left, "delay_seconds": b.pause.Seconds()}, &released); err != nil {
		b.warn("give documents back", err)
	}
}
