package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type alike struct{ Results []similarTicket }

type similarTicket struct {
	TicketKey  string `json:"ticket_key"`
	Similarity float64
	FusedScore float64 `json:"fused_score"`
	Likely     bool    `json:"likely_duplicate"`
}

func (a alike) keys() (keys []string) {
	for _, r := range a.Results {
		keys = append(keys, r.TicketKey)
	}
	return keys
}

// similar requests the tickets similar to a ticket; query is empty or begins with "?".
func (s *service) similar(key, query string) alike {
	s.t.Helper()
	return read[alike](s.get(fmt.Sprintf("/api/tickets/%d/similar%s", s.ids[key], query)))
}

func (s *service) draft(body map[string]any) alike {
	s.t.Helper()
	return read[alike](s.post("/api/tickets/similar", body))
}

// A ticket that is not embedded is compared by its current text, as it is once it is embedded.
func TestSimilarToWhatIsNotEmbedded(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for i, wanted := range []ticket{
		{Name: "Customer was charged twice", Description: "The card was charged twice."},
		{Name: "Slow payment page", Description: strings.Repeat("The payment of a customer failed for a reason that nobody knows. ", 200)},
		{Name: "返金メール"},
	} {
		wanted.Key, wanted.Project = fmt.Sprintf("TX-%d", 1000+i), "TX"
		s.load(nil, []ticket{wanted})
		before := s.similar(wanted.Key, "?limit=4")
		compared := s.model.inputs(t)
		s.generate("TX", wanted.Key).want(http.StatusOK)
		asked := s.model.inputs(t)
		if embedded := asked[len(compared):]; len(embedded) == 0 || embedded[0] != compared[len(compared)-1] {
			t.Errorf("%s: it was compared by %.100q, and is embedded by %.100q", wanted.Name, compared[len(compared)-1], embedded)
		}
		after := s.similar(wanted.Key, "?limit=4")
		if len(asked) != len(s.model.inputs(t)) {
			t.Errorf("%s: the model was asked although it is embedded", wanted.Name)
		}
		if len(before.Results) != 4 || !slices.Equal(before.Results, after.Results) {
			t.Errorf("%s: like it are %v, and once it is embedded %v", wanted.Name, before.Results, after.Results)
		}
	}
}

// A ticket is read, and compared, by whatever names it.
func TestNamesOfATicket(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	run(t, s.connect(), `update public.tickets set key = 'Größe/web#7' where key = 'TX-400'`)
	id := fmt.Sprint(s.ids["TX-400"])
	want := read[alike](s.get("/api/tickets/" + id + "/similar?limit=3"))
	if len(want.Results) != 3 {
		t.Fatalf("like the ticket are %+v", want)
	}
	for name, status := range map[string]int{
		"Größe/web#7": 200, "gröSSe/WEB#7": 404, "GRÖßE/WEB#7": 200, " größe/web#7 ": 200, "00" + id: 200, "IAM-97": 200,
		"0": 404, "9223372036854775807": 404, "9223372036854775808": 404, "TX-400": 404, "TX-400'": 404, "-1": 404, " ": 404, "%ff": 400, "%00": 400, "TX-400%00": 400, strings.Repeat("x", 256): 400,
	} {
		path := "/api/tickets/" + strings.NewReplacer("%25ff", "%ff", "%2500", "%00").Replace(url.PathEscape(name))
		whole, similar := s.get(path).want(status), s.get(path+"/similar?limit=3").want(status)
		if whole.status == http.StatusOK && strings.Contains(whole.text, `"ticket_id":`+id+",") && !reflect.DeepEqual(read[alike](similar), want) {
			t.Errorf("%q: %s", name, similar.text)
		}
	}
}
