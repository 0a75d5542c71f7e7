package worker_test

import (
	"strings"
	"testing"

	"tasklens/internal/vector"
)

const unready = `select count(*) from public.documents where embedding_status <> 'complete'`

// Documents are queued like tickets: chunked, embedded under their title, with one vector for the
// whole document.
func TestDocumentsAreEmbedded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(3)
	b.run(`insert into public.documents (title, content) values ('Runbook', 'Turn it off and on again.'), ('Blank', ''), ('Long', $1)`,
		strings.Repeat("The pump stands still until somebody looks after it. ", 200))
	b.start(quick(t))
	b.await(0, openJobs)
	b.await(0, unready)
	b.mustBeCurrent()
	if got := b.number(`select count(*) from public.document_chunks c join public.documents d on d.id = c.document_id where d.title = 'Long'`); got < 4 {
		t.Errorf("the long document has %d chunks, want at least 4", got)
	}
	if got := b.number(`select count(*) from public.embeddings where chunk_id is null and model = 'stand-in' and abs(extensions.vector_norm(embedding) - 1) < 1e-5`); got != 3 {
		t.Errorf("%d of 3 documents have a document vector of length 1", got)
	}
	// The vector is the first part of the model's, for title and text.
	want, err := embed("stand-in", "Runbook\n\nTurn it off and on again.").Short()
	if err != nil {
		t.Fatal(err)
	}
	text, err := want.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if got := b.number(`select count(*) from public.embeddings e join public.documents d on d.id = e.document_id
		where d.title = 'Runbook' and e.embedding operator(extensions.<=>) $1::text::extensions.vector < 1e-6`, string(text)); got != 2 {
		t.Errorf("%d of 2 vectors, of the document and its only chunk, are the model's, shortened to %d dimensions", got, vector.ShortDimensions)
	}

	before := len(b.model.requests())
	b.run(`update public.documents set archived = true, keywords = '{pump}', utility_score = 3 where title = 'Runbook'; delete from public.documents where title = 'Blank'`)
	b.run(`update public.documents set content = content || 'Call Ann.' where title = 'Long'`)
	b.await(0, openJobs)
	b.await(0, unready)
	inputs := 0
	for _, request := range b.model.requests()[before:] {
		inputs += len(request)
	}
	if inputs != 1 {
		t.Errorf("%d chunks were embedded again after a change of only the last one", inputs)
	}
}
