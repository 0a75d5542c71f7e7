package chaos

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/wait"
)

// size is the service's resource use and its number of panics.
type size struct{ goroutines, heap, panics float64 }

func (s size) String() string {
	return fmt.Sprintf("%.0f goroutines and %.1f MB of live heap", s.goroutines, s.heap/1e6)
}

// size reads the service's metrics.
func (r Run) size(ctx context.Context) (s size, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Service+"/metrics", nil)
	if err != nil {
		return s, err
	}
	response, err := web.Do(request)
	if err != nil {
		return s, fmt.Errorf("read the metrics: %w", err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			s.goroutines = number
		case "go_memstats_heap_alloc_bytes":
			s.heap = number
		case "tasklens_panics_total":
			s.panics = number
		}
	}
	if err := lines.Err(); err != nil {
		return s, fmt.Errorf("read the metrics: %w", err)
	}
	if s.goroutines == 0 || s.heap == 0 {
		return s, fmt.Errorf("the metrics lack goroutines or heap (status %d)", response.StatusCode)
	}
	return s, nil
}

// settle waits until the service has about its initial size.
func (r Run) settle(ctx context.Context, before size) (after size, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Recovery)
	defer cancel()
	web.CloseIdleConnections() // each holds a goroutine of the service
	for {
		if after, err = r.size(ctx); err != nil {
			return after, err
		}
		if after.panics > before.panics {
			return after, fmt.Errorf("the service panicked %.0f times, and its log says where", after.panics-before.panics)
		}
		if after.goroutines <= before.goroutines+20 && after.heap <= 2*before.heap+64e6 {
			return after, nil
		}
		if wait.For(ctx, 500*time.Millisecond) != nil {
			return after, fmt.Errorf("the service has grown: %s, then %s", before, after)
		}
	}
}
