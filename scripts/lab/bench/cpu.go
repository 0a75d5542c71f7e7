package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a part of the stack whose CPU time is measured, including its children.
type Process struct {
	Name string
	PID  int // 0 if unknown
}

// ticksPerSecond is the unit of times in /proc (USER_HZ), the same on every Linux.
const ticksPerSecond = 100

// Two more columns: the CPU time of the whole machine, and the time stolen by the hypervisor.
const (
	everything = "machine"
	stolen     = "stolen"
)

// stolenCaption explains the last column.
const stolenCaption = "Stolen is CPU time that the hypervisor gave to other machines: if it is not near zero, times are longer than they should be."

func coreNames(processes []Process) []string { return append(names(processes), everything, stolen) }

// cpuTimes returns the CPU seconds of each process and of the machine. What cannot be read is
// absent, such as on a machine without /proc.
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

// machine returns the busy and the stolen seconds of all processors, from the first line of
// /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
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
	ticks, reaped float64 // its own, and of exited children
}

func readStats(proc string) map[int]stat {
	stats := map[int]stat{}
	paths, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat")) // the pattern is well formed
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has exited
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

// parseStat parses /proc/PID/stat. The name in parentheses may contain anything, so fields are
// counted after it.
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

// cores returns how many processors each of coreNames used between two readings.
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

// processor returns the processor's name from /proc, after a comma.
func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo") // empty on other systems
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return ", " + strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
