package metric

import "time"

// Request counts a request from now on. end is called once, with the method and the template of its route (never a path),
// and with the status that its client saw.
func (m *Metrics) Request() (end func(method, route string, status int)) {
	if m == nil {
		return func(string, string, int) {}
	}
	m.inFlight.Inc()
	begun := time.Now()
	return func(method, route string, status int) {
		m.inFlight.Dec()
		m.requests.WithLabelValues(route, method, class(status)).Observe(time.Since(begun).Seconds())
	}
}

// Query counts a question or a search, and what came of it: both of the query log's fixed words.
func (m *Metrics) Query(kind, outcome string, lowSimilarity bool) {
	if m == nil {
		return
	}
	m.queries.WithLabelValues(kind, outcome).Inc()
	if lowSimilarity {
		m.dissimilar.WithLabelValues(kind).Inc()
	}
}

// UnknownCitations counts those that were taken out of an answer.
func (m *Metrics) UnknownCitations(n int) {
	if m != nil {
		m.unknown.Add(float64(n))
	}
}

// What limits_hit_total and records_lost_total tell apart.
const (
	LimitRate        = "rate"
	LimitInFlight    = "in_flight"
	LimitConnections = "connections"
	LimitDescriptors = "descriptors"

	LostQueryLog   = "query_log"
	LostRetrievals = "retrievals"
)

// showTrouble has these counters there before there is anything to count: one that begins with 1 has not grown, so that
// no alarm would tell of the first trouble.
func (m *Metrics) showTrouble() {
	for _, limit := range []string{LimitRate, LimitInFlight, LimitConnections, LimitDescriptors} {
		m.limits.WithLabelValues(limit)
	}
	for _, kind := range []string{LostQueryLog, LostRetrievals} {
		m.lost.WithLabelValues(kind)
	}
}

// LimitHit counts a request that was refused because of a limit.
func (m *Metrics) LimitHit(limit string) {
	if m != nil {
		m.limits.WithLabelValues(limit).Inc()
	}
}

// Lost counts records of a kind that were not written.
func (m *Metrics) Lost(kind string, records int64) {
	if m != nil {
		m.lost.WithLabelValues(kind).Add(float64(records))
	}
}

// Batch counts a batch of the worker that begins now. end is called once, with how many of its sources are done.
func (m *Metrics) Batch(sources int) (end func(done int, outcome string)) {
	if m == nil {
		return func(int, string) {}
	}
	begun := time.Now()
	return func(done int, outcome string) {
		m.batches.WithLabelValues(outcome).Observe(time.Since(begun).Seconds())
		m.sources.WithLabelValues("done").Add(float64(done))
		m.sources.WithLabelValues("left").Add(float64(sources - done))
	}
}
