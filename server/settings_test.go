package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// README's table has every setting with its default, and no other.
func TestSettingsStandInREADME(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Settings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	defaults := map[string]string{} // as the table has them
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|") // the first is empty
		if len(cells) < 5 || !strings.HasPrefix(line, "| `") {
			continue
		}
		names, values := quoted.FindAllStringSubmatch(cells[1], -1), quoted.FindAllStringSubmatch(cells[2], -1)
		if len(values) != 0 && len(values) != len(names) {
			t.Errorf("%d names and %d defaults: %s", len(names), len(values), line)
			continue
		}
		for i, name := range names {
			if _, twice := defaults[name[1]]; twice {
				t.Errorf("%s stands there twice", name[1])
			}
			defaults[name[1]] = ""
			if len(values) > 0 {
				defaults[name[1]] = values[i][1]
			}
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name, want := field.Tag.Get("env"), field.Tag.Get("envDefault")
		got, there := defaults[name]
		if !there {
			t.Errorf("%s is not in README's table of settings", name)
		} else if got != want {
			t.Errorf("README says that %s is %q by default, and it is %q", name, got, want)
		}
		delete(defaults, name)
	}
	for name := range defaults {
		t.Errorf("README's table has %s, which is no setting", name)
	}
}

// README's alarms watch what its table of metrics has.
func TestAlarmsWatchMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	section := func(title string) string {
		_, rest, _ := strings.Cut(string(text), "\n## "+title+"\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		return rest
	}
	metrics, watched := section("Metrics, traces, logs"), 0
	for _, name := range regexp.MustCompile(`tasklens_[a-z_]+`).FindAllString(section("On the internet"), -1) {
		watched++
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !regexp.MustCompile("`" + name + "[`{]").MatchString(metrics) {
			t.Errorf("%s is no metric in README's table", name)
		}
	}
	if watched == 0 {
		t.Error("README has no alarms")
	}
}

// Metrics are shown without a token, so where the service listens only while that is loopback; traces are made where a
// collector is named.
func TestWhatIsObserved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config       Config
		here, traces bool
	}{
		{Config{Auth: "off"}, true, false},
		{Config{Auth: "off", MetricsAddress: "127.0.0.1:1", OTelExporter: "otlp", OTelEndpoint: "http://c"}, false, true},
		{Config{Auth: "off", MetricsAddress: "off", OTelExporter: "otlp", OTelTracesEndpoint: "http://c"}, false, true},
		{Config{Auth: "on", OTelExporter: "otlp", OTelEndpoint: "http://c", OTelDisabled: true}, false, false},
		{Config{Auth: "on", OTelExporter: "none", OTelEndpoint: "http://c"}, false, false},
		{Config{Auth: "on", OTelExporter: "otlp"}, false, false},
	} {
		if c.config.metricsHere() != c.here || c.config.traces() != c.traces {
			t.Errorf("%+v: metrics here %t, traces %t", c.config, c.config.metricsHere(), c.config.traces())
		}
	}
	for address, taken := range map[string]bool{"127.0.0.1:9464": true, "[::1]:0": true, "metrics.internal:80": true, ":9464": false, "127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:70000": false} {
		if isAddress(address) != taken {
			t.Errorf("%s: %t", address, !taken)
		}
	}
}
