// Package bm25 ranks short documents of several fields by their words. It owns BM25F and nothing
// else; it must not know how texts become words, nor what the documents are.
package bm25

import (
	"math"
	"slices"
)

// Parameters are the usual ones: K1 bounds what repeating a word is worth, B says how far long
// fields are held against a document (0 not at all, 1 fully), Weights what an occurrence in each
// field counts.
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

// posting is a document that holds a word, and how often: weighted, and lengths of fields allowed
// for.
type posting struct {
	document  int
	frequency float64
}

// New indexes documents: for each, the words of each field, as many fields as there are weights.
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

// Hit is a document, by its place among those indexed, and its score, above 0.
type Hit struct {
	Document int
	Score    float64
}

// Search returns the best documents for the words, at most limit, equal ones in the order they were
// indexed. The score is the simple BM25F of Zaragoza et al. (TREC 2004): over the different words,
// idf · tf / (K1 + tf), tf being the weighted sum over the fields of occurrences, each field's
// divided by 1 − B + B · length / mean length; idf is ln(1 + (N − n + ½) / (n + ½)), which is never
// negative.
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
