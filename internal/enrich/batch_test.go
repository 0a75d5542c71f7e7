package enrich

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

func TestBatch(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	m := &model{say: func(context.Context, string, string) (chat.Completion, error) { return answered(plain) }}
	e := New(m, Options{})
	if got := s.stats(); got != (Stats{}) {
		t.Errorf("of an empty database: %+v", got)
	}
	if got := s.batch(e, 10); got.Processed != 0 || got.Errors == nil {
		t.Errorf("of an empty database: %+v", got)
	}
	s = newShelf(t, "a", "b", "c")
	if got := s.batch(e, 2); got.Processed != 2 || got.Succeeded != 2 || len(got.Errors) != 0 {
		t.Errorf("of two: %+v", got)
	}
	if got := s.stats(); got != (Stats{Total: 3, Enriched: 2, Unenriched: 1}) {
		t.Errorf("after two of three: %+v", got)
	}
	s.want(`{pump} [{"name": "Wiktor", "type": "person"}] dated reader-2 t`,
		`select concat_ws(' ', keywords, named_entities, temporal_class, enrichment_model, now() - enriched_at < interval '1 min') from public.documents where title = 'a'`)
	s.want("a", "select title from public.find_documents_by_entity('wiktor', 'Person', 1)")
	if got := s.batch(e, 10); got.Processed != 1 || s.stats().Enriched != 3 {
		t.Errorf("of the last: %+v", got)
	}
}

// Whatever happens to one document, the others succeed, and it is retried until its attempts are
// used up.
func TestOneBadDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said chat.Completion
		err  error
		want string
	}{
		"no JSON":  {said: chat.Completion{Text: "Sure! Here it is:", Finish: "stop"}, want: "is not JSON of the schema"},
		"refusal":  {said: chat.Completion{Text: "No.", Refused: true}, want: "refuses to describe the document"},
		"cut off":  {said: chat.Completion{Text: `{"keyw`, Finish: "length"}, want: "was cut off"},
		"filtered": {said: chat.Completion{Finish: "content_filter"}, want: "content filter"},
		"failure":  {err: fault.Wrap(fault.Provider, "The model provider failed.", errors.New("secret upstream text")), want: "The model provider failed."},
		"panic":    {err: errPanic, want: "Something went wrong."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, "a", "bad", "c", "d")
			m := &model{say: func(_ context.Context, title, _ string) (chat.Completion, error) {
				if title != "bad" {
					return answered(plain)
				}
				if c.err == errPanic {
					panic("boom")
				}
				return c.said, c.err
			}}
			e := New(m, Options{Attempts: 2, Retry: 10 * time.Minute})
			got := s.batch(e, 10)
			if got.Processed != 4 || got.Succeeded != 3 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Error, c.want) {
				t.Errorf("report is %+v", got)
			}
			s.want(got.Errors[0].ID+" "+got.Errors[0].Error, "select id || ' ' || enrichment_error from public.documents where title = 'bad'")
			if stats := s.stats(); stats != (Stats{Total: 4, Enriched: 3, Unenriched: 1, Failed: 1}) {
				t.Errorf("counted are %+v", stats)
			}
			if got := s.batch(e, 10); got.Processed != 0 {
				t.Errorf("at once it was tried again: %+v", got)
			}
			s.want("true", "select (j.due_at - now() between interval '7 min' and interval '13 min')::text from "+jobs+" where d.title = 'bad'")
			for _, want := range []int{1, 0} { // the second attempt was the last
				s.comeDue()
				if got := s.batch(e, 10); got.Processed != want {
					t.Errorf("another batch: %+v, not %d", got, want)
				}
			}
		})
	}
}

var errPanic = errors.New("panic")

// A result for a text that has changed meanwhile is discarded, and the new text is processed next.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a")
	edits := 1
	m := &model{say: func(context.Context, string, string) (chat.Completion, error) {
		if edits--; edits >= 0 {
			s.run("update public.documents set content = 'Wiktor has left.'")
		}
		return answered(plain)
	}}
	e := New(m, Options{})
	if got := s.batch(e, 1); got.Processed != 1 || got.Succeeded != 0 || len(got.Errors) != 1 || got.Errors[0].Error != "Its text changed while the model read it." {
		t.Errorf("report is %+v", got)
	}
	s.want("0 true", "select count(j) || ' ' || bool_and(d.enrichment_error is null) from "+jobs)
	if got := s.batch(e, 1); got.Succeeded != 1 {
		t.Errorf("of the new text: %+v", got)
	}
}

// If the provider limits the rate or rejects the key, all documents are released without using up
// an attempt.
func TestProviderRefusesEverything(t *testing.T) {
	t.Parallel()
	limited := fault.New(fault.Unavailable, "The model provider is rate-limiting this service.")
	limited.RetryAfter = 100 * time.Second
	for name, c := range map[string]struct {
		err       error
		low, high string
	}{
		"limited": {limited, "90 s", "100 s"},
		"key":     {fault.Wrap(fault.Provider, "The model provider failed.", fault.ErrKey), "-10 s", "0 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, "a", "b", "c", "d", "e", "f")
			first := true
			m := &model{say: func(context.Context, string, string) (chat.Completion, error) {
				if first {
					first = false
					return answered(plain)
				}
				return chat.Completion{}, c.err
			}}
			got, err := New(m, Options{Concurrency: 1}).Batch(s.ctx, s.rows, 10)
			if !errors.Is(err, c.err) || got.Processed != 1 || got.Succeeded != 1 || len(got.Errors) != 0 || len(m.asked) != 2 {
				t.Errorf("report is %+v, %v; asked were %v", got, err, m.asked)
			}
			s.want("- 0 0 0 0 0", attempts)
			s.want("5", "select count(*)::text from tasklens.embedding_jobs where kind = 'enrich' and due_at - clock_timestamp() between $1::interval and $2::interval", c.low, c.high)
		})
	}
}

// A batch stops when everything fails, so that an outage does not use up the attempts of all
// documents.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := newShelf(t, titles(8)...)
	m := &model{say: func(context.Context, string, string) (chat.Completion, error) {
		return chat.Completion{}, fault.New(fault.Timeout, "The model provider did not answer in time.")
	}}
	got, err := New(m, Options{Concurrency: 1}).Batch(s.ctx, s.rows, 10)
	if fault.CodeOf(err) != fault.Timeout || got.Processed != 5 || len(got.Errors) != 5 {
		t.Errorf("report is %+v, %v", got, err)
	}
	s.want("1 1 1 1 1 0 0 0", attempts)
}

// At its deadline a batch reports what it did and releases the rest at once, held until then.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "b", "c")
	held := ""
	m := &model{say: func(ctx context.Context, title, _ string) (chat.Completion, error) {
		if title == "a" {
			return answered(plain)
		}
		<-ctx.Done()
		held = s.text("select count(*)::text from tasklens.embedding_jobs where kind = 'enrich' and lease_id is not null and due_at > clock_timestamp()")
		return chat.Completion{}, fault.Wrap(fault.Timeout, "The model provider did not answer in time.", ctx.Err())
	}}
	got, err := New(m, Options{Concurrency: 1, Timeout: 2 * time.Second}).Batch(s.ctx, s.rows, 10)
	if err != nil || got.Processed != 1 || got.Succeeded != 1 || len(got.Errors) != 0 {
		t.Errorf("report is %+v, %v", got, err)
	}
	if held != "2" {
		t.Errorf("at the deadline it holds %s documents, want 2", held)
	}
	s.want("- 0 0", attempts)
	s.want("2", "select count(*)::text from tasklens.embedding_jobs where kind = 'enrich' and due_at <= clock_timestamp() and lease_id is null")
}
