package gateway

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// jsonValue draws any JSON value, including white space and escapes.
func jsonValue(depth int) *rapid.Generator[string] {
	space := rapid.StringOfN(rapid.SampledFrom([]rune(" \t\r\n")), 0, 2, -1)
	text := rapid.Custom(func(t *rapid.T) string {
		encoded, _ := json.Marshal(rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune(`"\{}[]:,`)), rapid.Rune())).Draw(t, "text"))
		return string(encoded)
	})
	plain := rapid.OneOf(text, rapid.SampledFrom([]string{"1", "-2.5e3", "true", "false", "null", `"\\"`, `"\\\""`, `"[{"`}))
	if depth == 0 {
		return plain
	}
	return rapid.Custom(func(t *rapid.T) string {
		pad := func(s string) string { return space.Draw(t, "before") + s + space.Draw(t, "after") }
		var parts []string
		switch n := rapid.IntRange(0, 4).Draw(t, "members"); rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return pad(plain.Draw(t, "plain"))
		case 1:
			for range n {
				parts = append(parts, jsonValue(depth-1).Draw(t, "element"))
			}
			return pad("[" + strings.Join(parts, ",") + pad("") + "]")
		default:
			for range n {
				parts = append(parts, pad(text.Draw(t, "name"))+":"+jsonValue(depth-1).Draw(t, "value"))
			}
			return pad("{" + strings.Join(parts, ",") + pad("") + "}")
		}
	})
}

// The scan agrees with encoding/json on every value, whole or corrupted.
func TestScanAgreesWithDecoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(jsonValue(3).Draw(t, "body"))
		if rapid.Bool().Draw(t, "damaged") && len(body) > 0 {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			body = append(body[:at:at], append([]byte(rapid.SampledFrom([]string{"", `"`, `\`, "{", "]", ",", "x", "\x00", "\xff"}).Draw(t, "damage")), body[at+1:]...)...)
		}
		args, err := scanBody(body)
		var decoded any
		problem := json.Unmarshal(body, &decoded)
		if problem == nil && err != nil && err != error(invalidBody) {
			return // PostgREST refuses this array, too
		}
		if !utf8.Valid(body) {
			if err == nil {
				t.Fatalf("%q passed", body) // encoding/json accepts it
			}
			return
		}
		if problem == nil && err != nil {
			t.Fatalf("%q is JSON, but was refused", body)
		}
		object, ok := decoded.(map[string]any)
		if problem != nil || !ok {
			return // Postgres refuses what passes here
		}
		if want := slices.Sorted(maps.Keys(object)); !slices.Equal(args.names, want) {
			t.Fatalf("%q: names %q, want %q", body, args.names, want)
		}
	})
}

func TestScanNeverPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		_, _ = scanBody([]byte(rapid.StringOf(rapid.SampledFrom([]rune("{}[]\"\\:,1a \n"))).Draw(t, "body")))
	})
}

// Scanning takes linear, not quadratic, time.
func TestScanIsLinear(t *testing.T) {
	t.Parallel()
	for _, part := range []string{`\\`, `[`, `\"`} {
		body := `{"a": "` + strings.Repeat(part, 4<<20) + `"}`
		if part == "[" {
			body = `{"a": ` + strings.Repeat("[", 8<<20)
		}
		_, _ = scanBody([]byte(body)) // quadratic time would take hours
	}
}

func BenchmarkScan(b *testing.B) {
	vector := `"[` + strings.Repeat("-0.0123456789,", 1535) + `0.5]"`
	body := []byte(`{"ids": [1,2,3], "vs": [` + strings.Repeat(vector+",", 999) + vector + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := scanBody(body); err != nil {
			b.Fatal(err)
		}
	}
}
