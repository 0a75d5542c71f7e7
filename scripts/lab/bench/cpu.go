package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a part of the stack whose use of the processors is measured, with that of all its
// children.
type Process struct {
	Name string
	PID  int // 0 where it is not known
}

// ticksPerSecond is the unit of times in /proc on every Linux there is (USER_HZ).
const ticksPerSecond = 100

// Beside the processes: what the whole machine used, and what it could not use, because whoever
// lends the processors out gave them to others.
const (
	everything = "machine"
	stolen     = "stolen"
)

// stolenCaption explains the last column.
const stolenCaption = "Stolen is what whoever lends the processors out gave to others: where it is more than next to nothing, times are longer for it."

func coreNames(processes []Process) []string { return append(names(processes), everything, stolen) }

// cpuTimes is what each process has used since it started, in seconds, and the machine. What cannot
// be read is absent: a machine without /proc, or a process on another one.
func cpuTimes(proc string, processes []Process) map[string]float64 {
	times := map[string]float64{}
	if line, err := os.ReadFile(filepath.Join(proc, "stat")); err == nil {
		times[everything], times[stolen] = machine(string(line))
	}
	stats := readStats(proc)
	for _, p := range processes {
		own, known := stats[p.PID]
		if p.PID == 0 || !known {
			continue
		}
		sum := own.ticks + own.reaped
		for _, child := range stats {
			if child.parent == p.PID {
				sum += child.ticks
			}
		}
		times[p.Name] = sum / ticksPerSecond
	}
	return times
}

// machine is the seconds that all processors together were in use, and stolen, from the first line
// of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
func machine(stat string) (busy, stolen float64) {
	line, _, _ := strings.Cut(stat, "\n")
	for i, field := range strings.Fields(line) {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			continue
		}
		switch i {
		case 1, 2, 3, 6, 7:
			busy += ticks / ticksPerSecond
		case 8:
			stolen += ticks / ticksPerSecond
		}
	}
	return busy, stolen
}

type stat struct {
	parent        int
	ticks, reaped float64 // its own, and that of children that have ended
}

func readStats(proc string) map[int]stat {
	stats := map[int]stat{}
	paths, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat")) // the pattern is well formed
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if s, ok := parseStat(string(content)); ok {
			stats[pid] = s
		}
	}
	return stats
}

// parseStat reads a /proc/PID/stat. The name in parentheses may hold anything, so fields are
// counted behind it.
func parseStat(content string) (s stat, ok bool) {
	fields := strings.Fields(content[strings.LastIndexByte(content, ')')+1:])
	if len(fields) < 15 {
		return s, false
	}
	var numbers [5]float64
	for i, at := range []int{1, 11, 12, 13, 14} { // ppid, utime, stime, cutime, cstime
		var err error
		if numbers[i], err = strconv.ParseFloat(fields[at], 64); err != nil {
			return s, false
		}
	}
	return stat{parent: int(numbers[0]), ticks: numbers[1] + numbers[2], reaped: numbers[3] + numbers[4]}, true
}

// cores are how many processors each of coreNames took between two readings.
func cores(before, after map[string]float64, took time.Duration, processes []Process) (cells []string) {
	for _, name := range coreNames(processes) {
		from, known := before[name]
		to, still := after[name]
		if !known || !still {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.2f", (to-from)/took.Seconds()))
	}
	return cells
}

func names(processes []Process) (out []string) {
	for _, p := range processes {
		out = append(out, p.Name)
	}
	return out
}

// processor is the processor's name where /proc tells it, led by a comma.
func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo") // elsewhere nothing is told
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return ", " + strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
