package bench_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"tasklens/scripts/lab/bench"
)

func TestRequestsAreNewOrRepeat(t *testing.T) {
	t.Parallel()
	for _, repeat := range []bool{false, true} {
		reader, writer := io.Pipe()
		go func() {
			r := bench.Requests{Collection: bench.WithChunks(300), Service: bench.Endpoint{URL: "http://service"}, Path: "/api/query", Salt: 7, Repeat: repeat}
			_ = r.Print(t.Context(), writer) // ends as its reader closes
		}()
		decoder, different := json.NewDecoder(reader), map[string]bool{}
		for range 60 {
			var target struct {
				Method, URL string
				Body        []byte
			}
			if err := decoder.Decode(&target); err != nil {
				t.Fatal(err)
			}
			if target.Method != "POST" || target.URL != "http://service/api/query" || !strings.Contains(string(target.Body), `"question":`) {
				t.Fatalf("a request is %+v", target)
			}
			different[string(target.Body)] = true
		}
		if want := map[bool]int{false: 60, true: 20}[repeat]; len(different) != want {
			t.Errorf("%d different requests, want %d", len(different), want)
		}
		_ = reader.Close()
	}
}
