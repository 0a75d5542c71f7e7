package enrich

import (
	"context"
	"fmt"

	"tasklens/internal/fault"
)

// changed is returned for a document whose text changed while the model read it. It is already
// queued with its new text.
var changed = fault.New(fault.Invalid, "Its text changed while the model read it.")

func (b *batch) call(function string, arguments map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), storeTimeout)
	defer cancel()
	return b.db.Call(ctx, function, arguments, result)
}

// store writes an enrichment if the document's text has not changed.
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

// fail records an error on the document and schedules its retry. If that fails too, the document is
// due when its lease expires.
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

// giveBack notes documents to release: those not tried, or with a failure that was not theirs.
func (b *batch) giveBack(documents ...document) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, d := range documents {
		b.left = append(b.left, d.LeaseID)
	}
}

// release releases the noted documents, due after the pause that the provider asked for.
func (b *batch) release() {
	if len(b.left) == 0 {
		return
	}
	var released int64
	if err := b.call("release_enrichments", map[string]any{"lease_ids": b.left, "delay_seconds": b.pause.Seconds()}, &released); err != nil {
		b.warn("give documents back", err)
	}
}
