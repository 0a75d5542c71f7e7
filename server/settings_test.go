package main

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caarlos0/env/v11"
)

// section returns the text below a heading.
func section(text, title string) string {
	_, rest, _ := strings.Cut(text, "\n## "+title+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// documented is a row of the settings tables.
type documented struct{ name, value, limits string }

func documentedSettings(t *testing.T) (rows []documented) {
	t.Helper()
	table, _, _ := strings.Cut(text(t, "../docs/settings.md"), "\n## Commands\n")
	quoted := regexp.MustCompile("^`([^`]+)`$")
	for _, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(line, "|") // the first and last are empty
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 6 || quoted.FindStringSubmatch(cells[1]) == nil || cells[4] == "" {
			t.Errorf("not a row of the settings table: %s", line)
			continue
		}
		row := documented{name: quoted.FindStringSubmatch(cells[1])[1], limits: cells[3]}
		if value := quoted.FindStringSubmatch(cells[2]); value != nil {
			row.value = value[1]
		}
		rows = append(rows, row)
	}
	return rows
}

// The settings page lists every setting exactly once, with its default, and no others.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{}
	for _, row := range documentedSettings(t) {
		if _, twice := defaults[row.name]; twice {
			t.Errorf("docs/settings.md lists %s twice", row.name)
		}
		defaults[row.name] = row.value
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name, want := field.Tag.Get("env"), field.Tag.Get("envDefault")
		got, there := defaults[name]
		if !there {
			t.Errorf("docs/settings.md lacks %s", name)
		} else if got != want {
			t.Errorf("docs/settings.md gives %s the default %q, but it is %q", name, got, want)
		}
		delete(defaults, name)
	}
	for name := range defaults {
		t.Errorf("docs/settings.md lists %s, which is not a setting", name)
	}
}

// The documented ranges are those that the program accepts.
func TestSettingsRanges(t *testing.T) {
	t.Parallel()
	numeric := regexp.MustCompile(`^(\d\S*) (?:to (\d\S*)|or more)$`)
	checked := 0
	for _, row := range documentedSettings(t) {
		limits := numeric.FindStringSubmatch(row.limits)
		if limits == nil {
			continue
		}
		checked++
		values := map[string]bool{limits[1]: true, beyond(t, limits[1], -1): false}
		if limits[2] != "" {
			values[limits[2]], values[beyond(t, limits[2], 1)] = true, false
		}
		for value, good := range values {
			c, err := env.ParseAsWithOptions[Config](env.Options{Environment: map[string]string{row.name: value}})
			err = c.check(err)
			refused := strings.Contains("\n"+err.Error(), "\n"+row.name+" must")
			if refused == good {
				t.Errorf("%s=%s is refused: %t (docs/settings.md: %s; %v)", row.name, value, refused, row.limits, err)
			}
		}
	}
	if checked < 12 {
		t.Errorf("only %d ranges were found", checked)
	}
}

// beyond is the nearest value below (-1) or above (1) a limit.
func beyond(t *testing.T, limit string, direction int) string {
	t.Helper()
	if number, err := strconv.Atoi(limit); err == nil {
		return strconv.Itoa(number + direction)
	}
	duration, err := time.ParseDuration(limit)
	if err != nil {
		t.Fatal(err)
	}
	return (duration + time.Duration(direction)*time.Millisecond).String()
}

// The alerts use metrics that the table of metrics lists.
func TestAlarmsWatchMetrics(t *testing.T) {
	t.Parallel()
	metrics, watched := section(text(t, "../docs/operations.md"), "Metrics"), 0
	for _, name := range regexp.MustCompile(`tasklens_[a-z_]+`).FindAllString(text(t, "../docs/examples/alarms.yml"), -1) {
		watched++
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !regexp.MustCompile("`" + name + "[`{]").MatchString(metrics) {
			t.Errorf("docs/operations.md does not list the metric %s", name)
		}
	}
	if watched == 0 {
		t.Error("docs/examples/alarms.yml watches nothing")
	}
}

// The settings page lists every verb and no others.
func TestVerbsAreDocumented(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)").FindAllStringSubmatch(section(text(t, "../docs/settings.md"), "Commands"), -1) {
		listed = append(listed, row[1])
	}
	slices.Sort(listed)
	var want []string
	for _, verb := range verbs {
		want = append(want, verb.name)
	}
	if slices.Sort(want); !slices.Equal(listed, want) {
		t.Errorf("docs/settings.md lists the verbs %v, want %v", listed, want)
	}
}

// Metrics need no token, so by default they are served only on loopback.
func TestWhereMetricsAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config Config
		here   bool
	}{
		{Config{Auth: "off"}, true},
		{Config{Auth: "off", MetricsAddress: "127.0.0.1:1"}, false},
		{Config{Auth: "off", MetricsAddress: "off"}, false},
		{Config{Auth: "on"}, false},
	} {
		if c.config.metricsHere() != c.here {
			t.Errorf("%+v: metrics here %t", c.config, !c.here)
		}
	}
	for address, taken := range map[string]bool{"127.0.0.1:9464": true, "[::1]:0": true, "metrics.internal:80": true, ":9464": false, "127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:70000": false} {
		if isAddress(address) != taken {
			t.Errorf("%s: %t", address, !taken)
		}
	}
}
