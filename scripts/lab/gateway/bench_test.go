package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

// BenchmarkDirect calls the same function over the same kind of connection without a gateway. The
// difference to BenchmarkCall is the gateway's cost.
func BenchmarkDirect(b *testing.B) {
	conn := testbed.Connect(b, golden(b).OwnerURL)
	var n int
	for b.Loop() {
		if err := conn.QueryRow(context.Background(), `select golden.add_up($1)`, 1).Scan(&n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	s := serve(b)
	s.want(s.post("add_up", `{"a": 1}`), "200 11")
	for b.Loop() {
		s.post("add_up", `{"a": 1}`)
	}
}

// BenchmarkHandler excludes HTTP on both sides.
func BenchmarkHandler(b *testing.B) {
	s := serve(b)
	g := s.gateway(gateway.Config{})
	for b.Loop() {
		s.serve(context.Background(), g, "add_up", `{"a": 1}`)
	}
}

// BenchmarkVectors passes 1,000 vectors of 1,536 numbers, as when embeddings are stored.
func BenchmarkVectors(b *testing.B) {
	s := serve(b)
	body := vectorsBody(1000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		s.want(s.post("count_vectors", body), "200 1000")
	}
}

// vectorsBody returns arguments of count_vectors, some 17 kB per vector.
func vectorsBody(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	ids, vectors := make([]string, n), make([]string, n)
	for i := range n {
		numbers := make([]string, 1536)
		for j := range numbers {
			numbers[j] = fmt.Sprintf("%.8f", random.Float64()-0.5)
		}
		ids[i], vectors[i] = fmt.Sprint(i), `"[`+strings.Join(numbers, ",")+`]"`
	}
	return `{"ids": [` + strings.Join(ids, ",") + `], "vs": [` + strings.Join(vectors, ",") + `]}`
}
