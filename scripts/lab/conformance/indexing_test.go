package conformance_test

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// chunks have 200 to 500 tokens and overlap by 50 to 100; put together they are the text. Their
// vectors have length 1.
func (s specified) chunks() {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	tokenizer, err := tiktoken.GetEncoding("cl100k_base")
	if err != nil {
		s.Fatal(err)
	}
	tokens := func(text string) int { return len(tokenizer.EncodeOrdinary(text)) }
	type generated struct {
		IDs     []string `json:"embedding_ids"`
		Project int64    `json:"project_id"`
	}
	done := decode[generated](s.T, s.post("/api/embeddings/generate", `{"project_id":3,"ticket_id":7}`))
	type chunk struct {
		Project, Ticket int64
		Text            string
		Length          float64
	}
	found := rows(s.T, s.owner, pgx.RowToStructByPos[chunk], `
		select project_id, ticket_id, text, extensions.vector_norm(embedding) from chunks where chunk_id = any ($1) order by array_position($1, chunk_id)`, done.IDs)
	text := "A long text\n\n" + longText()
	together := ""
	for i, c := range found {
		if n := tokens(c.Text); n < 200 || n > 500 {
			s.Errorf("chunk %d has %d tokens", i, n)
		}
		if c.Project != 3 || c.Ticket != 7 || math.Abs(c.Length-1) > 1e-3 {
			s.Errorf("chunk %d of project %d, ticket %d has a vector of length %v", i, c.Project, c.Ticket, c.Length)
		}
		if i == 0 {
			together = c.Text
			continue
		}
		overlap := len(c.Text)
		for !strings.HasSuffix(together, c.Text[:overlap]) {
			overlap--
		}
		if n := tokens(c.Text[:overlap]); n < 50 || n > 100 {
			s.Errorf("chunk %d overlaps the one before by %d tokens", i, n)
		}
		together += c.Text[overlap:]
	}
	if len(found) < 10 || len(found) != len(done.IDs) || together != text {
		s.Errorf("%d ids, %d chunks; together %d bytes of %d", len(done.IDs), len(found), len(together), len(text))
	}
}

// cache answers a second request from the first one's response, until the data changes.
func (s specified) cache() {
	for path, body := range map[string]string{"/api/hybrid-search": `{"query":"who cannot log in"}`, "/api/query": `{"question":"Who cannot log in?","match_threshold":0}`} {
		for i, want := range []bool{false, true, true, false} {
			if i == 3 {
				execute(s.T, s.owner, `update tickets set description = description || ' Today.' where ticket_id = 1`)
			}
			r := s.post(path, body)
			if got := decode[map[string]any](s.T, r); got["cached"] != want || want != strings.HasSuffix(r.header.Get("Cache-Status"), "; hit") {
				s.Errorf("%s, request %d: cached is %v, Cache-Status %q", path, i+1, got["cached"], r.header.Get("Cache-Status"))
			}
		}
		s.settled()
	}
}

// realtime: what SQL writes is found by words at once, and by meaning as soon as a worker has
// embedded it. A ticket's notes and comments have chunks of their own.
func (s specified) realtime() {
	type result struct {
		Results []struct {
			Ticket int64 `json:"ticket_id"`
			Source string
			Text   string
		}
	}
	search := func(query string) result {
		return decode[result](s.T, s.post("/api/hybrid-search", `{"query":"`+query+`","match_threshold":0.3}`))
	}
	execute(s.T, s.owner, `insert into tickets (project_id, status_id, name, description) select 1, min(status_id), 'Zeppelin', 'The refund was paid out two times.' from status`)
	if r := search("zeppelin"); len(r.Results) != 1 || r.Results[0].Ticket != 8 {
		s.Errorf("by words at once: %+v", r)
	}
	byMeaning := func() bool {
		r := search("zeppelin refund paid")
		return len(r.Results) > 0 && r.Results[0].Ticket == 8 && r.Results[0].Source == "vector"
	}
	poll(s.T, "a new ticket is found by meaning", byMeaning)
	execute(s.T, s.owner, `update tickets set description = 'Now about dirigibles.' where ticket_id = 8`,
		`insert into status_changes (ticket_id, note) values (8, 'Closed as a balloon.')`, `insert into comments (ticket_id, body) values (8, 'It floats.')`)
	s.settled()
	texts := rows(s.T, s.owner, pgx.RowTo[string], `select text from chunks where ticket_id = 8 order by text`)
	if got := strings.Join(texts, "|"); got != "Closed as a balloon.|It floats.|Zeppelin\n\nNow about dirigibles." {
		s.Errorf("the chunks are %q", got)
	}
}

// models: questions and chunks are embedded by the same model, and the chat model reads the sources
// and the question. What nothing is known about is in the query log.
func (s specified) models() {
	before := len(s.model.since(0))
	s.want(s.post("/api/query", `{"question":"Why does the login page fail after the password?","match_threshold":0.1,"top_k":1}`), 200, `{"sources":[{"ticket_id":1}]}`)
	asked := s.model.since(before)
	if len(asked) != 2 || !strings.Contains(asked[0], `"text-embedding-3-small"`) || !strings.Contains(asked[1], `"gpt-4o-mini"`) ||
		!strings.Contains(asked[1], "Why does the login page fail") || !strings.Contains(asked[1], "The login page fails after the password is entered.") ||
		strings.Contains(asked[1], "navigation bar") {
		s.Errorf("the models were asked %q", asked)
	}
	if models := rows(s.T, s.owner, pgx.RowTo[string], `select distinct model from chunks`); len(models) != 1 {
		s.Errorf("the chunks are of the models %q", models)
	}
	const unknown = "Which blood pressure is normal for adults?"
	s.want(s.post("/api/query", `{"question":"`+unknown+`","match_threshold":0.9}`), 200, `{"sources":[],"low_similarity":true,"answer":"~string"}`)
	poll(s.T, "the query log flags the question", func() bool {
		return slices.Contains(rows(s.T, s.owner, pgx.RowTo[string], `select question from unanswered_questions()`), unknown)
	})
}

// failures of others get a status that says whose they are, and a search goes on by words.
func (s specified) failures() {
	const nowhere = "http://127.0.0.1:1"
	without := func(settings map[string]string) specified {
		s := s
		s.url = s.serve(s.T, settings)
		return s
	}
	model := without(map[string]string{"OPENAI_BASE_URL": nowhere + "/v1", "WORKER": "off"})
	model.want(model.post("/api/query", `{"question":"Who cannot log in?"}`), 502, `{"code":"model_failed","detail":"~string"}`)
	model.want(model.post("/api/hybrid-search", `{"query":"log in"}`), 200, `{"degraded":["vector"],"executed":["keyword"],"results":[{"source":"keyword"}]}`)
	database := without(map[string]string{"SUPABASE_REST_URL": nowhere, "WORKER": "off"})
	for path, body := range map[string]string{"/api/query": `{"question":"Who?"}`, "/api/hybrid-search": `{"query":"log in"}`, "/api/embeddings/generate": `{"project_id":1}`} {
		database.want(database.post(path, body), 503, `{"code":"unavailable"}`)
	}
	database.want(ask(s.T, http.MethodGet, database.url+"/readyz", ""), 503, `{"missing":["~string"]}`)
}

func (s specified) limits() {
	s.url = s.serve(s.T, map[string]string{"RATE_LIMIT": "1/1h", "WORKER": "off"})
	s.want(ask(s.T, http.MethodGet, s.url+"/api/statuses", ""), 200, `{}`)
	r := ask(s.T, http.MethodGet, s.url+"/api/statuses", "")
	s.want(r, 429, `{"code":"rate_limited"}`)
	if r.header.Get("Retry-After") == "" {
		s.Error("no Retry-After")
	}
}
