package metric

import "github.com/prometheus/client_golang/prometheus"

// Cache counts the requests of one kind by where their response came from.
type Cache struct {
	Hits   int64 // computed earlier
	Misses int64 // computed for this request
	Shared int64 // computed for a concurrent identical request
}

// Caches registers counters that are read on each scrape. Their values only grow.
func (m *Metrics) Caches(read func() map[string]Cache) {
	m.show(&caches{
		read:     read,
		requests: prometheus.NewDesc("tasklens_cache_requests_total", "Requests by where their response came from: hit, miss, shared.", []string{"kind", "result"}, nil),
	})
}

type caches struct {
	read     func() map[string]Cache
	requests *prometheus.Desc
}

func (c *caches) Describe(to chan<- *prometheus.Desc) { to <- c.requests }

func (c *caches) Collect(to chan<- prometheus.Metric) {
	for kind, counts := range c.read() {
		for result, n := range map[string]int64{"hit": counts.Hits, "miss": counts.Misses, "shared": counts.Shared} {
			to <- prometheus.MustNewConstMetric(c.requests, prometheus.CounterValue, float64(n), kind, result)
		}
	}
}
