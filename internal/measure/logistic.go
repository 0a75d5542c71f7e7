package measure

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a score and whether what it was given to is right.
type Scored struct {
	Score float64
	Right bool
}

// Logistic maps a score to a probability, 1 / (1 + exp(−(Slope × score + Intercept))).
type Logistic struct{ Slope, Intercept float64 }

// At is the probability of a score.
func (l Logistic) At(score float64) float64 {
	return 1 / (1 + math.Exp(-(l.Slope*score + l.Intercept)))
}

// fitRounds and ridge bound the fit: Newton's method is done after a few rounds, and the ridge
// keeps a step finite.
const (
	fitRounds = 100
	ridge     = 1e-9
)

// FitLogistic fits a rising logistic by Newton's method (Platt 1999, with the targets and the step
// control of Lin, Lin and Weng, Machine Learning 2007). false where the right ones do not have the
// higher scores, or where there are none of one kind.
func FitLogistic(values []Scored) (Logistic, bool) {
	var right, wrong float64
	for _, v := range values {
		if v.Right {
			right++
		} else {
			wrong++
		}
	}
	if right == 0 || wrong == 0 {
		return Logistic{}, false
	}
	target := func(v Scored) float64 {
		if v.Right {
			return (right + 1) / (right + 2)
		}
		return 1 / (wrong + 2)
	}
	loss := func(l Logistic) (sum float64) {
		for _, v := range values {
			z := l.Slope*v.Score + l.Intercept
			sum += math.Max(z, 0) - target(v)*z + math.Log1p(math.Exp(-math.Abs(z)))
		}
		return sum
	}
	fit := Logistic{Intercept: math.Log((right + 1) / (wrong + 1))}
	for range fitRounds {
		var gradient [2]float64
		h11, h12, h22 := ridge, 0.0, ridge
		for _, v := range values {
			p := fit.At(v.Score)
			difference, weight := target(v)-p, p*(1-p)
			gradient[0] += difference * v.Score
			gradient[1] += difference
			h11, h12, h22 = h11+weight*v.Score*v.Score, h12+weight*v.Score, h22+weight
		}
		determinant := h11*h22 - h12*h12
		step := Logistic{(h22*gradient[0] - h12*gradient[1]) / determinant, (h11*gradient[1] - h12*gradient[0]) / determinant}
		before, size := loss(fit), 1.0
		next := Logistic{fit.Slope + step.Slope, fit.Intercept + step.Intercept}
		for ; size > 1e-10 && !(loss(next) < before); size /= 2 {
			next = Logistic{fit.Slope + size/2*step.Slope, fit.Intercept + size/2*step.Intercept}
		}
		if size <= 1e-10 {
			break // it gets no better
		}
		fit = next
	}
	return fit, fit.Slope > 0 && !math.IsInf(fit.Slope, 0) && !math.IsNaN(fit.Intercept)
}

// LeastFor is the lowest score such that of the values that reach it, at least so many, this share
// is right; false if there is none.
func LeastFor(values []Scored, precision float64, support int) (least float64, ok bool) {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	right := 0
	for i, v := range sorted {
		if v.Right {
			right++
		}
		if i+1 < len(sorted) && sorted[i+1].Score == v.Score {
			continue // they reach it together
		}
		if i+1 >= support && float64(right) >= precision*float64(i+1) {
			least, ok = v.Score, true
		}
	}
	return least, ok
}
