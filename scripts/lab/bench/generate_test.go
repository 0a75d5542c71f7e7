package bench

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTheSameCollectionIsMadeEachTime(t *testing.T) {
	t.Parallel()
	a, b, larger := WithChunks(400), WithChunks(400), WithChunks(900)
	if a.Chunks() != 400 || b.Tickets() != a.Tickets() || larger.Chunks() != 900 {
		t.Fatalf("%d and %d chunks, %d and %d tickets", a.Chunks(), larger.Chunks(), a.Tickets(), b.Tickets())
	}
	for i := range a.Tickets() - 1 { // the last one may be truncated
		one, other, same := a.Ticket(i), b.Ticket(i), larger.Ticket(i)
		if one.Name != other.Name || one.Description != other.Description || one.Project != other.Project || one.Name != same.Name {
			t.Fatalf("ticket %d differs: %+v, %+v", i, one, other)
		}
		if i != longTicket && one.Description != same.Description {
			t.Fatalf("ticket %d depends on the size of the collection", i)
		}
		if len(one.Chunks) != a.chunks[i] || !strings.HasPrefix(one.Chunks[0], one.Name+"\n\n") {
			t.Fatalf("ticket %d has the chunks %q", i, one.Chunks)
		}
	}
	if a.Query(3) != b.Query(3) || a.Query(3) == a.Query(4) || a.QueryFor(5, 1) == a.QueryFor(5, 2) {
		t.Error("queries are not one for each number")
	}
	if !slices.Equal(Embed("kabo leda", 1536), Embed("kabo leda", 1536)) || slices.Equal(Embed("kabo leda", 1536), Embed("kabo ledi", 1536)) {
		t.Error("embeddings are not one for each text")
	}
}

func TestClustersOverlap(t *testing.T) {
	t.Parallel()
	c := WithChunks(1500)
	type chunk struct {
		topic int
		v     []float32
	}
	var all []chunk
	for i := range c.Tickets() {
		ticket := c.Ticket(i)
		for _, text := range ticket.Chunks {
			all = append(all, chunk{ticket.main, embedChunk(text, ticket.Project, ticket.ID)})
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	var any []float64
	for range 1000 {
		any = append(any, cosine(all[random.IntN(len(all))].v, all[random.IntN(len(all))].v))
	}
	slices.Sort(any)
	if median := any[len(any)/2]; median < 0.2 || median > 0.5 {
		t.Errorf("two chunks have a similarity of %.2f", median)
	}
	near, onTopic, queries := 0.0, 0, 60
	for i := range queries {
		q := c.Query(i)
		v := Embed(q.Text, 1536)
		byDistance := slices.SortedFunc(slices.Values(all), func(a, b chunk) int { return cmp.Compare(cosine(v, b.v), cosine(v, a.v)) })
		near += cosine(v, byDistance[0].v) / float64(queries)
		for _, x := range byDistance[:10] {
			if x.topic == q.topic {
				onTopic++
			}
		}
	}
	if near < 0.5 || near > 0.85 {
		t.Errorf("the chunk nearest to a query has a similarity of %.2f", near)
	}
	if share := float64(onTopic) / float64(10*queries); share < 0.2 || share > 0.9 {
		t.Errorf("%.2f of the chunks near a query are on its topic: want most, but others between them", share)
	}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestVectorsAreOfLengthOne(t *testing.T) {
	t.Parallel()
	for _, v := range [][]float32{Embed("", 1536), Embed("kabo unknown", 256), embedChunk("kabo", 1, 2)} {
		if length := math.Sqrt(cosine(v, v)); math.Abs(length-1) > 1e-5 {
			t.Errorf("%d numbers of length %v", len(v), length)
		}
	}
	if n := len(Embed("kabo", 256)); n != 256 {
		t.Errorf("%d numbers, want 256", n)
	}
	if got, want := encodeVector([]float32{1, -2}), []byte{0, 2, 0, 0, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("encoded as % x", got)
	}
}
