package answer_test

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/answer"
	"tasklens/internal/gateway"
	"tasklens/internal/index"
	"tasklens/internal/load"
	"tasklens/internal/offline"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/internal/ticketfile"
	"tasklens/internal/tokenizer"
)

// asked is a question about the sample workspace, and the tickets one of which its answer must cite; none where the
// workspace has no answer. The questions were written before any answer was seen. Those of the half "choose" were looked
// at while choices were made, those of the half "report" were only counted.
type asked struct {
	Half     string   `json:"half"`
	Question string   `json:"question"`
	Cite     []string `json:"cite"`
}

func readQuestions(t *testing.T) (list []asked) {
	t.Helper()
	file, err := os.Open("testdata/questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one asked
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

// workspace is the sample workspace, embedded by the offline model.
func workspace(t *testing.T) (*postgrest.Session, *answer.Answerer) {
	t.Helper()
	restURL, secret := testbed.REST(t, testbed.Database(t))
	key, err := gateway.Token(secret, map[string]any{"role": "service_role", "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(offline.NewHandler())
	t.Cleanup(provider.Close)
	model := openai.New(openai.Config{BaseURL: provider.URL + "/v1", APIKey: "none", EmbeddingModel: offline.EmbeddingModel,
		ChatModel: offline.ChatModel, AttemptTimeout: time.Minute})
	tokens, err := tokenizer.Load()
	if err != nil {
		t.Fatal(err)
	}
	indexer := index.New(model, tokens, index.Limits{Inputs: openai.MaxInputs, Tokens: openai.MaxTokens})
	rows, err := ticketfile.Open("../../supabase/sample")
	if err != nil {
		t.Fatal(err)
	}
	db := postgrest.New(restURL, key).AsService()
	if _, err := load.Load(t.Context(), db, indexer, rows, load.Report{
		BadRow: func(row *ticketfile.RowError) { t.Error(row) }, BadField: func(row *ticketfile.RowError) { t.Error(row) }, Indexed: func(int) {},
	}); err != nil {
		t.Fatal(err)
	}
	return db, answer.New(model, tokens, answer.Options{VectorWeight: 1, KeywordWeight: 1})
}

// rates of what was asked: answerable questions whose answer cites what it must, and those that had a note of that ticket
// among their sources, where resolutions stand; unanswerable ones that were answered by citing nothing.
type rates struct{ answerable, cited, noted, unanswerable, abstained int }

// The sample workspace is small and the questions use its words, so that this guards against mistakes rather than
// measures how good answers are.
func TestSampleWorkspace(t *testing.T) {
	t.Parallel()
	db, answerer := workspace(t)
	questions := readQuestions(t)
	for name, hybrid := range map[string]bool{"vector": false, "hybrid": true} {
		answers := make([]answer.Answer, len(questions))
		var group errgroup.Group
		group.SetLimit(2)
		for i, q := range questions {
			group.Go(func() (err error) {
				answers[i], err = answerer.Answer(t.Context(), db, answer.Question{
					Text: q.Question, TopK: 5, MatchThreshold: 0.7, Lambda: 0.5, Hybrid: hybrid}, nil)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, half := range []string{"choose", "report"} {
			var r rates
			for i, q := range questions {
				if q.Half == half {
					r.count(q, answers[i])
				}
			}
			t.Logf("%s, half %q: the right ticket is cited in %d of %d answers, one of its notes is a source in %d; %d of %d unanswerable questions cite nothing",
				name, half, r.cited, r.answerable, r.noted, r.abstained, r.unanswerable)
			if r.answerable < 20 || r.unanswerable < 5 || r.cited < r.answerable-2 || r.noted < r.answerable*3/4 || r.abstained < r.unanswerable-1 {
				t.Errorf("%s, half %q: %+v", name, half, r)
			}
		}
	}
}

func (r *rates) count(q asked, got answer.Answer) {
	cites, right, note := false, false, false
	for _, s := range got.Sources {
		cites = cites || s.Cited
		if s.TicketKey != nil && slices.Contains(q.Cite, *s.TicketKey) {
			right = right || s.Cited
			note = note || !strings.HasPrefix(s.Text, *s.TicketName)
		}
	}
	if len(q.Cite) == 0 {
		r.unanswerable++
		r.abstained += one(!cites)
		return
	}
	r.answerable++
	r.cited += one(right)
	r.noted += one(note)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
