package api_test

import (
	"net/http"
	"testing"

	"tasklens/internal/worker"
)

func TestEmbeddingStatus(t *testing.T) {
	t.Parallel()
	s := start(t)
	status := func() worker.Status { return read[worker.Status](s.get("/api/embeddings/status")) }
	if got := status(); got != (worker.Status{}) {
		t.Errorf("of an empty tracker: %+v", got)
	}
	s.load(trackerProjects, trackerTickets)
	got := status()
	if sources := len(trackerProjects) + len(trackerTickets); got.Pending != sources || got.SourcesWithoutChunks != sources || got.Chunks != 0 || got.OldestPendingSeconds <= 0 {
		t.Errorf("of %d sources: %+v", sources, got)
	}
	s.generate("IAM", "")
	if after := status(); after.Pending != got.Pending-1 || after.SourcesWithoutChunks != got.SourcesWithoutChunks-1 || after.Chunks != 1 {
		t.Errorf("after one was embedded: %+v", after)
	}
	tracker := s.connect()
	run(t, tracker, `update tasklens.embedding_jobs set due_at = now() + interval '1 minute'`)
	run(t, tracker, `update tasklens.embedding_jobs set attempts = 1 where source_id = (select source_id from tasklens.sources where ticket_id = $1)`, s.ids["TX-400"])
	run(t, tracker, `update tasklens.embedding_jobs set attempts = 1, dead_at = now() where source_id in (select source_id from tasklens.sources where project_id is not null)`)
	run(t, tracker, `update tasklens.embedding_jobs set due_at = now() where source_id = (select source_id from tasklens.sources where ticket_id = (select min(ticket_id) from public.tickets where ticket_id <> $1))`, s.ids["TX-400"])
	run(t, tracker, `select from public.claim_embedding_jobs()`)
	if after := status(); after.Failed != 1 || after.Dead != 1 || after.Running != 1 || after.Pending != got.Pending-4 {
		t.Errorf("after one failed, one was given up and one was taken: %+v", after)
	}
	s.get("/api/embeddings/status?all=1").want(http.StatusBadRequest)
	s.get("/api/embeddings/status", "Authorization", "Bearer "+s.token("anon")).want(http.StatusForbidden)
}
