package filter

import (
	"fmt"
	"slices"
	"strings"
)

// Within narrows filters to a project and a status, if there are any.
func (f Filters) Within(project *int64, status *string) (Filters, error) {
	var also Filters
	if project != nil {
		also.Projects = []Value{{ID: min(*project, MaxID)}} // no project has a greater one
	}
	if status != nil {
		also.Statuses = Texts(*status)
	}
	return And(f, also)
}

// And returns the intersection of two filters. It fails if a single Filters cannot express it; the
// error names the member.
func And(a, b Filters) (Filters, error) {
	joined := Filters{Nothing: a.Nothing || b.Nothing, Open: a.Open}
	both, others, result := a.Lists(), b.Lists(), joined.Lists()
	for i, l := range both {
		values, err := intersect(*l.Values, *others[i].Values)
		if err != nil {
			return Filters{}, fmt.Errorf("%s %w", l.Name, err)
		}
		*result[i].Values = values
		joined.Nothing = joined.Nothing || len(values) == 0 && len(*l.Values) > 0
	}
	if b.Open != nil {
		joined.Open = b.Open
		joined.Nothing = joined.Nothing || a.Open != nil && *a.Open != *b.Open
	}
	var err error
	if joined.Labels, err = andLabels(a.Labels, b.Labels); err != nil {
		return Filters{}, err
	}
	spans, otherSpans, resultSpans := a.Spans(), b.Spans(), joined.Spans()
	for i, s := range spans {
		r := overlap(*s.Range, *otherSpans[i].Range)
		joined.Nothing = joined.Nothing || r.isEmpty()
		*resultSpans[i].Range = r
	}
	if joined.Not, err = nor(a.Not, b.Not); err != nil {
		return Filters{}, fmt.Errorf("not.%w", err)
	}
	return joined, nil
}

// same reports whether two values name the same thing, as far as that is known without the
// database.
func (v Value) same(w Value) bool {
	return v.ID == w.ID && v.Null == w.Null && strings.EqualFold(v.Text, w.Text)
}

func holds(values []Value, v Value) bool { return slices.ContainsFunc(values, v.same) }

func holdsAll(values, of []Value) bool {
	return !slices.ContainsFunc(of, func(v Value) bool { return !holds(values, v) })
}

// intersect returns the values that two lists share. It cannot tell which name "me" has, nor which
// project key an id belongs to.
func intersect(a, b []Value) ([]Value, error) {
	switch {
	case len(a) == 0 || holdsAll(a, b) && len(b) > 0:
		return b, nil
	case len(b) == 0 || holdsAll(b, a):
		return a, nil
	case slices.ContainsFunc(a, Value.isMe) != slices.ContainsFunc(b, Value.isMe):
		return nil, fmt.Errorf("has \"me\" in one place and other names in another")
	case slices.ContainsFunc(slices.Concat(a, b), isID) && slices.ContainsFunc(slices.Concat(a, b), isKey):
		return nil, fmt.Errorf("has ids in one place and keys in another")
	}
	var common []Value
	for _, v := range a {
		if holds(b, v) {
			common = append(common, v)
		}
	}
	return common, nil
}

func isID(v Value) bool  { return v.ID != 0 }
func isKey(v Value) bool { return v.ID == 0 }

// andLabels requires both. An Any list with a single label is moved to All.
func andLabels(a, b Labels) (Labels, error) {
	joined := Labels{Any: a.Any, All: union(a.All, b.All)}
	switch {
	case len(a.Any) == 0:
		joined.Any = b.Any
	case len(b.Any) == 0 || holdsAll(b.Any, a.Any):
	case holdsAll(a.Any, b.Any):
		joined.Any = b.Any
	case len(b.Any) == 1:
		joined.All = union(joined.All, b.Any)
	case len(a.Any) == 1:
		joined.Any, joined.All = b.Any, union(joined.All, a.Any)
	default:
		return Labels{}, fmt.Errorf("labels has two lists of alternatives")
	}
	if len(joined.All) > MaxValues {
		return Labels{}, fmt.Errorf("labels has more than %d values", MaxValues)
	}
	return joined, nil
}

// nor excludes what either excludes.
func nor(a, b *Filters) (*Filters, error) {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		return a, nil
	}
	joined := Filters{}
	lists, others, result := a.Lists(), b.Lists(), joined.Lists()
	for i, l := range lists {
		*result[i].Values = union(*l.Values, *others[i].Values)
		if len(*result[i].Values) > MaxValues {
			return nil, fmt.Errorf("%s has more than %d values", l.Name, MaxValues)
		}
	}
	joined.Labels = Labels{Any: union(a.Labels.Any, b.Labels.Any), All: a.Labels.All}
	switch {
	case len(a.Labels.All) == 0 && len(a.Labels.Any) == 0:
		joined.Labels = b.Labels
	case len(b.Labels.All) == 0 && len(b.Labels.Any) == 0:
		joined.Labels = a.Labels
	case len(a.Labels.All) > 0 || len(b.Labels.All) > 0:
		return nil, fmt.Errorf("labels has \"all\" and other labels")
	case len(joined.Labels.Any) > MaxValues:
		return nil, fmt.Errorf("labels has more than %d values", MaxValues)
	}
	spans, otherSpans, resultSpans := a.Spans(), b.Spans(), joined.Spans()
	for i, s := range spans {
		r, ok := cover(*s.Range, *otherSpans[i].Range)
		if !ok {
			return nil, fmt.Errorf("%s has two ranges with time between them", s.Name)
		}
		*resultSpans[i].Range = r
	}
	return &joined, nil
}

func union(a, b []Value) []Value {
	joined := slices.Clone(a)
	for _, v := range b {
		if !holds(joined, v) {
			joined = append(joined, v)
		}
	}
	return joined
}

// overlap returns the intersection of two ranges.
func overlap(a, b Range) Range {
	joined := a
	start, isBounded := a.start()
	if other, is := b.start(); is && (!isBounded || other.After(start)) {
		joined.From = b.From
	}
	end, ends := a.end()
	if other, is := b.end(); is && (!ends || other.Before(end)) {
		joined.To = b.To
	}
	return joined
}

// isEmpty reports whether a range contains no moment.
func (r Range) isEmpty() bool {
	start, isBounded := r.start()
	end, ends := r.end()
	return isBounded && ends && !start.Before(end)
}

// cover returns the union of two ranges if it is a single range. A range without bounds is none.
func cover(a, b Range) (Range, bool) {
	if a == (Range{}) {
		return b, true
	}
	if b == (Range{}) {
		return a, true
	}
	startA, fromA := a.start()
	startB, fromB := b.start()
	endA, toA := a.end()
	endB, toB := b.end()
	if fromA && toB && startA.After(endB) || fromB && toA && startB.After(endA) {
		return Range{}, false
	}
	joined := a
	if !fromB || fromA && startB.Before(startA) {
		joined.From = b.From
	}
	if !toB || toA && endB.After(endA) {
		joined.To = b.To
	}
	// With both ends open the union is every ticket that has a date, which no range can express.
	return joined, joined != (Range{})
}
