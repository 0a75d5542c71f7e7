package metric

import "time"

// Request counts a request from now on. Call end once, with the method, the route's template (never
// a path) and the status sent to the client.
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

// Query counts a question or a search with its outcome. Both labels are fixed words of the query
// log.
func (m *Metrics) Query(kind, outcome string, lowSimilarity bool) {
	if m == nil {
		return
	}
	m.queries.WithLabelValues(kind, outcome).Inc()
	if lowSimilarity {
		m.dissimilar.WithLabelValues(kind).Inc()
	}
}

// UnknownCitations counts citations removed from an answer.
func (m *Metrics) UnknownCitations(n int) {
	if m != nil {
		m.unknown.Add(float64(n))
	}
}

// Cached counts a request by where its response came from: hit, miss or shared.
func (m *Metrics) Cached(kind, result string) {
	if m != nil {
		m.cached.WithLabelValues(kind, result).Inc()
	}
}

// Label values of limits_hit_total and records_lost_total.
const (
	LimitRate        = "rate"
	LimitInFlight    = "in_flight"
	LimitConnections = "connections"
	LimitDescriptors = "descriptors"

	LostQueryLog   = "query_log"
	LostRetrievals = "retrievals"
)

// showTrouble creates these counters at zero. A counter that first appears as 1 has not increased,
// so no alert would report the first event.
func (m *Metrics) showTrouble() {
	for _, limit := range []string{LimitRate, LimitInFlight, LimitConnections, LimitDescriptors} {
		m.limits.WithLabelValues(limit)
	}
	for _, kind := range []string{LostQueryLog, LostRetrievals} {
		m.lost.WithLabelValues(kind)
	}
}

// LimitHit counts a request rejected by a limit.
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

// Batch counts a worker batch that starts now. Call end once, with the number of sources done.
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
