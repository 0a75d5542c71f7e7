package openai

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

func texted(n, length int) []string {
	return slices.Repeat([]string{strings.Repeat("ab ", length/3)}, n)
}

// Requests become as small as the server wants them, and stay so if that is its limit.
func TestSmallerRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter, string)
		most   int
	}{
		"TEI": {status(422, `{"error":"%s","error_type":"Validation"}`), 32}, "DashScope": {status(400, `{"error":{"message":"%s","code":"InvalidParameter"}}`), 10},
		"nothing": {status(413, ``), 10}, "a proxy": {status(413, `<html>Request Entity Too Large</html>`), 3}, "one": {status(400, `{"message":"no"}`), 1},
		"a proxy's patience": {status(504, `<html>Gateway Time-out</html>`), 8},
		"llama.cpp":          {status(500, `{"error":{"code":500,"message":"input is too large to process: %s"}}`), 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &peculiar{most: c.most, refuse: c.refuse}
			client := server.client(t)
			for call := range 2 {
				server.requests = nil
				vectors, cut, err := client.Embed(t.Context(), "e", texted(200, 30))
				if err != nil || len(vectors) != 200 || cut != nil || slices.ContainsFunc(vectors, func(v vector.Vector) bool { return v == nil }) {
					t.Fatalf("%d vectors, %d cut, %v", len(vectors), cut, err)
				}
				if limit := client.inputLimit("e"); call == 1 && (limit > c.most || len(server.requests) != (200+limit-1)/limit) {
					t.Errorf("with a limit of %d there are %d requests, at %d", c.most, len(server.requests), limit)
				}
			}
			if client.OpenCircuits() != nil {
				t.Error("the circuit breaker is open")
			}
		})
	}
}

// One text that a model refuses is cut, or left out, and changes nothing for the others.
func TestOneOddText(t *testing.T) {
	t.Parallel()
	long, inputs := texted(1, 3000)[0], texted(40, 90)
	for name, c := range map[string]struct {
		server *peculiar
		cut    []int
	}{
		"too long":         {&peculiar{longest: 1000, refuse: status(413, `{"error":"Input validation error: %s"}`)}, []int{17}},
		"too long, by 400": {&peculiar{longest: 1000, refuse: status(400, `{"error":"%s"}`)}, []int{17}},
		"too long, by 500": {&peculiar{longest: 1000, refuse: status(500, `{"error":{"message":"%s"}}`)}, []int{17}},
		"refused":          {&peculiar{longest: 1000, refuse: status(400, `{"error":"invalid character"}`)}, nil},
		"the filter":       {&peculiar{longest: 1000, refuse: status(403, `{"error":{"code":"content_filter","message":"no"}}`)}, nil},
		"crashes on it":    {&peculiar{longest: 1000, refuse: status(500, `{"error":"oops"}`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := c.server
			client := server.client(t)
			given := slices.Clone(inputs)
			given[17] = long
			vectors, cut, err := client.Embed(t.Context(), "e", given)
			if !slices.Equal(cut, c.cut) || (err == nil) != (c.cut != nil) || err != nil && !errors.Is(err, fault.ErrInput) || len(vectors) != 40 {
				t.Fatalf("%d vectors, %d cut, %v", len(vectors), cut, err)
			}
			for i, v := range vectors {
				if (v == nil) != (i == 17 && c.cut == nil) {
					t.Errorf("input %d has a vector of %d numbers", i, len(v))
				}
			}
			if client.inputLimit("e") != maxInputs || client.OpenCircuits() != nil {
				t.Errorf("later requests have %d inputs, the open circuits are %v", client.inputLimit("e"), client.OpenCircuits())
			}
		})
	}
}

// A response that is not a vector for each input costs no other text its own.
func TestUnreadableEmbeddings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		embed    func(inputs []string) string
		embedded int
	}{
		"one at a time": {func([]string) string { return `{"data":[{"index":0,"embedding":[1,0]}]}` }, 20},
		"NaN for one": {func(inputs []string) string {
			data := strings.Repeat(`{"embedding":[1,0]},`, len(inputs))
			if slices.Contains(inputs, "odd") {
				data = strings.Replace(data, "1", "NaN", 1)
			}
			return `{"data":[` + strings.TrimSuffix(data, ",") + `]}`
		}, 19},
	} {
		server := &peculiar{embed: func(w http.ResponseWriter, inputs []string) bool {
			say(200, c.embed(inputs))(w, nil)
			return true
		}}
		inputs := texted(20, 30)
		inputs[7] = "odd"
		client := server.client(t)
		vectors, _, err := client.Embed(t.Context(), "e", inputs)
		embedded := 0
		for _, v := range vectors {
			if v != nil {
				embedded++
			}
		}
		if embedded != c.embedded || (err == nil) != (embedded == 20) || err != nil && !errors.Is(err, fault.ErrInput) || client.OpenCircuits() != nil {
			t.Errorf("%s: %d vectors, %v", name, embedded, err)
		}
	}
}

// A server that refuses everything is asked a few times, not once for each text.
func TestAllTextsAreRefused(t *testing.T) {
	t.Parallel()
	server := &peculiar{refused: []string{"input"}, refuse: status(400, `{"error":"no"}`)}
	vectors, _, err := server.client(t).Embed(t.Context(), "e", texted(64, 30))
	if err == nil || vectors != nil || errors.Is(err, fault.ErrInput) || len(server.requests) > 20 {
		t.Errorf("%d vectors after %d requests, %v", len(vectors), len(server.requests), err)
	}
}

// A server that is too slow for many inputs embeds fewer at a time.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	server := &peculiar{}
	server.embed = func(_ http.ResponseWriter, inputs []string) bool {
		if len(inputs) > 5 {
			time.Sleep(time.Second)
			return true
		}
		return false
	}
	client := server.client(t)
	client.silence = 300 * time.Millisecond
	vectors, _, err := client.Embed(t.Context(), "e", texted(20, 30))
	if err != nil || len(vectors) != 20 || client.inputLimit("e") != 5 || client.OpenCircuits() != nil {
		t.Errorf("%d vectors at %d a request, %v", len(vectors), client.inputLimit("e"), err)
	}
}

// The order of the inputs counts where the server leaves out all indexes, or that of the first.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for data, good := range map[string]bool{
		`{"embedding":[3,4]},{"embedding":[0,1]}`:                        true,
		`{"index":1,"embedding":[0,1]},{"embedding":[3,4]}`:              true,
		`{"index":null,"embedding":[3,4]},{"index":1,"embedding":[0,1]}`: true,
		`{"index":0,"embedding":[3,4]},{"embedding":[0,1]}`:              false,
		`{"index":1,"embedding":[3,4]},{"index":1,"embedding":[0,1]}`:    false,
		`{"index":0,"embedding":[3,4]},{"index":0,"embedding":[0,1]}`:    false,
	} {
		vectors, _, err := serve(t, say(200, `{"data":[`+data+`]}`)).Embed(t.Context(), "e", []string{"a", "b"})
		if (err == nil) != good || good && (vectors[0][0] != 0.6 || vectors[1][1] != 1) {
			t.Errorf("%s: %v", data, err)
		}
	}
}
