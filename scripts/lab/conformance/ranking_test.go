package conformance_test

import (
	"fmt"
	"math"
	"slices"
	"time"
)

type result struct {
	Ticket      int64 `json:"ticket_id"`
	Similarity  *float64
	Source      string
	Score       float64 `json:"rrf_score"`
	VectorRank  int     `json:"vector_rank"`
	KeywordRank int     `json:"keyword_rank"`
}

type source struct {
	Ticket     int64 `json:"ticket_id"`
	Similarity float64
}

// rankFusion: "alpha" stands in the names or texts of the tickets 3 and 4; the vectors of 4, 6 and
// 5 are near it, in this order. The score is the sum of 1 / (60 + rank).
func (s specified) rankFusion() {
	got := decode[struct{ Results []result }](s.T, s.post("/api/hybrid-search", `{"query":"alpha","project_id":2,"match_threshold":0.5}`)).Results
	both, first := 1.0/61+1.0/62, 1.0/61
	want := map[int64]result{
		4: {Score: both, VectorRank: 1, KeywordRank: 2, Source: "vector"}, 3: {Score: first, KeywordRank: 1, Source: "keyword"},
		6: {Score: 1.0 / 62, VectorRank: 2, Source: "vector"}, 5: {Score: 1.0 / 63, VectorRank: 3, Source: "vector"},
	}
	var order []int64
	for _, r := range got {
		w := want[r.Ticket]
		if math.Abs(r.Score-w.Score) > 1e-9 || r.VectorRank != w.VectorRank || r.KeywordRank != w.KeywordRank || r.Source != w.Source || (r.Similarity != nil) != (r.Source == "vector") {
			s.Errorf("ticket %d: %+v, want %+v", r.Ticket, r, w)
		}
		order = append(order, r.Ticket)
	}
	if !slices.Equal(order, []int64{4, 3, 6, 5}) {
		s.Errorf("the order is %v", order)
	}
}

// filters narrow both searches, and an unknown value finds nothing.
func (s specified) filters() {
	for filter, want := range map[string][]int64{
		`"project_id":2`: {4, 3, 6, 5}, `"project_id":2,"status_filter":"Done"`: {5}, `"project_id":2,"status_filter":"to do"`: {4, 3, 6},
		`"project_id":99`: nil, `"status_filter":"Nowhere"`: nil, `"project_id":2,"limit":1,"offset":1`: {3},
	} {
		var got []int64
		for _, r := range decode[struct{ Results []result }](s.T, s.post("/api/hybrid-search", `{"query":"alpha","match_threshold":0.5,`+filter+`}`)).Results {
			got = append(got, r.Ticket)
		}
		if !slices.Equal(got, want) {
			s.Errorf("%s finds %v, want %v", filter, got, want)
		}
	}
}

// diversity: the tickets 4 and 6 have the same vector, with a cosine of 0.9; that of 5 has 0.8, and
// 0.72 to theirs. By relevance alone 4 and 6 are the sources; else 0.5 * 0.8 - 0.5 * 0.72 is more
// than 0.5 * 0.9 - 0.5 * 1, so that one of them gives way to 5.
func (s specified) diversity() {
	sources := func(lambda float64) (tickets []int64) {
		body := fmt.Sprintf(`{"question":"alpha","project_id":2,"match_threshold":0.5,"top_k":2,"mmr_lambda":%v}`, lambda)
		for _, source := range decode[struct{ Sources []source }](s.T, s.post("/api/query", body)).Sources {
			tickets = append(tickets, source.Ticket)
		}
		slices.Sort(tickets)
		return tickets
	}
	if got := sources(1); !slices.Equal(got, []int64{4, 6}) {
		s.Errorf("by relevance alone the sources are %v", got)
	}
	if got := sources(0.5); len(got) != 2 || !slices.Contains(got, 5) {
		s.Errorf("the varied sources are %v", got)
	}
}

// threshold: similarities are strictly over it.
func (s specified) threshold() {
	for threshold, want := range map[string]int{"0.5": 3, "0.85": 2, "0.95": 0} {
		found := decode[struct {
			Sources []source
			Low     bool    `json:"low_similarity"`
			Best    float64 `json:"best_similarity"`
		}](s.T, s.post("/api/query", `{"question":"alpha","project_id":2,"match_threshold":`+threshold+`}`))
		if len(found.Sources) != want || found.Low != (want == 0) || math.Abs(found.Best-0.9) > 1e-3 {
			s.Errorf("over %s: %+v, want %d sources", threshold, found, want)
		}
	}
}

// speed: half of the questions are answered within 1.5 seconds by models that take 0.8.
func (s specified) speed() {
	s.model.slow.Store(true)
	defer s.model.slow.Store(false)
	for path, body := range map[string]string{"/api/query": `{"question":"Why can customers not log in, number %d?","match_threshold":0}`, "/api/hybrid-search": `{"query":"customers who log in %d","match_threshold":0}`} {
		var took []time.Duration
		for i := range 5 {
			started := time.Now()
			s.want(s.post(path, fmt.Sprintf(body, i)), 200, `{"cached":false}`)
			took = append(took, time.Since(started))
		}
		slices.Sort(took)
		if least := embedDelay; took[0] < least || took[2] > 1500*time.Millisecond {
			s.Errorf("%s took %v", path, took)
		}
	}
}

// documents: written, embedded, enriched, found in both ways and by what they name, counted.
func (s specified) documents() {
	const id = "3f0e4b58-8f68-4d2f-a5d9-a521f7a0f5e3"
	s.want(s.post("/api/knowledge/documents", `{"id":"`+id+`","title":"Why we chose Raft","content":"The replicas of the ledger agree by Raft, says Wiktor.","keywords":["raft"]}`), 201, `{"id":"`+id+`","embedding_status":"~string"}`)
	s.settled()
	s.want(s.post("/api/knowledge/enrich/batch", `{"batch_size":5}`), 200, `{"processed":1,"succeeded":1,"errors":[]}`)
	get := func(path string) reply { return ask(s.T, "GET", s.url+path, "") }
	s.want(get("/api/knowledge/enrich/stats"), 200, `{"total":1,"enriched":1,"unenriched":0,"failed":0}`)
	basic := get("/api/knowledge/search?q=How+do+the+replicas+agree+by+Raft&threshold=0&track=false")
	s.want(basic, 200, `{"results":[{"id":"`+id+`","title":"Why we chose Raft","content":"~string","similarity":"~number"}]}`)
	if first := decode[struct{ Results []map[string]any }](s.T, basic).Results[0]; len(first) != 4 {
		s.Errorf("the older form has the members %v", first)
	}
	s.want(get("/api/knowledge/search?q=How+do+the+replicas+agree+by+Raft&hybrid=true&threshold=0"), 200, `{"results":[{"id":"`+id+`","keyword_score":"~number","utility_boost":0,
		"freshness_boost":"~number","temporal_weight":1,"final_score":"~number","keywords":["raft"]}]}`)
	// Of the query's keywords, without stop words and ten at most, the document has one.
	for query, score := range map[string]string{"How+does+Raft+work%3F": "0.5", "raft+one+two+three+four+five+six+seven+eight+nine+ten+eleven+twelve": "0.1"} {
		s.want(get("/api/knowledge/search?q="+query+"&hybrid=true&threshold=0&track=false"), 200, `{"results":[{"keyword_score":`+score+`}]}`)
	}
	poll(s.T, "the retrieval is counted", func() bool {
		d := decode[struct {
			Count   int      `json:"retrieval_count"`
			Queries []string `json:"retrieval_queries"`
		}](s.T, get("/api/knowledge/documents/"+id))
		return d.Count == 1 && slices.Equal(d.Queries, []string{"How do the replicas agree by Raft"})
	})
	s.want(get("/api/knowledge/entities/wiktor?type=person"), 200, `{"results":[{"id":"`+id+`","title":"Why we chose Raft","matched_entity":"Wiktor","matched_type":"person"}]}`)
	if r := s.post("/api/knowledge/documents/"+id+"/feedback", `{"helpful":true}`); r.status != 204 {
		s.Errorf("a vote: %d %s", r.status, r.body)
	}
	if r := ask(s.T, "DELETE", s.url+"/api/knowledge/documents/"+id, ""); r.status != 204 {
		s.Errorf("deleting: %d %s", r.status, r.body)
	}
	s.want(get("/api/knowledge/documents/"+id), 404, `{"code":"not_found"}`)
}
