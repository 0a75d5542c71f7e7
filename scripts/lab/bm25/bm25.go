// Package bm25 ranks short documents with several fields by BM25F. It does not know how texts are
// split into words, nor what the documents are.
package bm25

import (
	"math"
	"slices"
)

// Parameters of BM25F: K1 limits the effect of repetition, B is the strength of length
// normalisation (0 to 1), Weights is the weight of an occurrence in each field.
type Parameters struct {
	K1      float64
	B       float64
	Weights []float64
}

// Index holds documents for ranking. It is safe for concurrent use.
type Index struct {
	parameters Parameters
	documents  int
	postings   map[string][]posting
}

// posting is a document that contains a word, with the weighted, length-normalised frequency.
type posting struct {
	document  int
	frequency float64
}

// New indexes documents, given the words of each field. There are as many fields as weights.
func New(parameters Parameters, documents [][][]string) *Index {
	x := &Index{parameters: parameters, documents: len(documents), postings: map[string][]posting{}}
	means := meanLengths(documents, len(parameters.Weights))
	for document, fields := range documents {
		frequencies := map[string]float64{}
		for f, words := range fields {
			if len(words) == 0 {
				continue
			}
			norm := 1 - parameters.B + parameters.B*float64(len(words))/means[f]
			for _, word := range words {
				frequencies[word] += parameters.Weights[f] / norm
			}
		}
		for word, frequency := range frequencies {
			x.postings[word] = append(x.postings[word], posting{document, frequency})
		}
	}
	return x
}

func meanLengths(documents [][][]string, fields int) []float64 {
	means := make([]float64, fields)
	for _, document := range documents {
		for f, words := range document {
			means[f] += float64(len(words)) / float64(len(documents))
		}
	}
	return means
}

// Hit is a document, by its index, and its score, above 0.
type Hit struct {
	Document int
	Score    float64
}

// Search returns at most limit documents, best first, ties in index order. The score is the simple
// BM25F of Zaragoza et al. (TREC 2004): the sum over distinct words of idf · tf / (K1 + tf). tf is
// the weighted sum over fields of occurrences / (1 − B + B · length / mean length); idf is ln(1 +
// (N − n + ½) / (n + ½)), never negative.
func (x *Index) Search(words []string, limit int) []Hit {
	scores := map[int]float64{}
	for _, word := range slices.Compact(slices.Sorted(slices.Values(words))) {
		held := x.postings[word]
		n := float64(len(held))
		idf := math.Log(1 + (float64(x.documents)-n+0.5)/(n+0.5))
		for _, p := range held {
			scores[p.document] += idf * p.frequency / (x.parameters.K1 + p.frequency)
		}
	}
	hits := make([]Hit, 0, len(scores))
	for document, score := range scores {
		hits = append(hits, Hit{document, score})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return a.Document - b.Document
	})
	return hits[:min(max(limit, 0), len(hits))]
}
