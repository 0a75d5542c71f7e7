package api

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"tasklens/internal/fault"
	"tasklens/internal/knowledge"
)

// largeBodies are about 1 MiB each, with many elements.
func largeBodies() map[string]string {
	filled := func(begin, part, end string) string {
		return begin + strings.Repeat(part, (maxBodyBytes-len(begin)-len(end))/len(part)) + end
	}
	return map[string]string{
		"unknown fields":             filled(`{"title":"a","content":"b"`, `,"x":1`, `}`),
		"a field again and again":    filled(`{"title":"a","content":"b"`, `,"id":1`, `}`),
		"objects":                    filled(`{"title":"a","content":"b"`, `,"x":{}`, `}`),
		"a list of empty texts":      filled(`{"title":"a","content":"b","keywords":["a"`, `,""`, `]}`),
		"a list of numbers":          filled(`{"title":"a","content":"b","keywords":[1`, `,1`, `]}`),
		"a list of lists":            filled(`{"title":"a","content":"b","keywords":[[]`, `,[]`, `]}`),
		"a list for a text":          filled(`{"title":[""`, `,""`, `],"content":"b"}`),
		"an object for a text":       filled(`{"title":{"a":""`, `,"a":""`, `},"content":"b"}`),
		"fields in an unknown field": filled(`{"title":"a","content":"b","x":{"a":""`, `,"a":""`, `}}`),
		"a text":                     filled(`{"title":"a","content":"`, `b`, `"}`),
		"a text of escapes":          filled(`{"title":"a","content":"`, `\n`, `"}`),
	}
}

func decodeBody(app *fiber.App, body string) error {
	c := app.AcquireCtx(&fasthttp.RequestCtx{})
	defer app.ReleaseCtx(c)
	c.Request().Header.SetContentType("application/json")
	c.Request().SetBodyRaw([]byte(body))
	return readRequest(c, new(knowledge.Draft))
}

// Decoding allocates a small multiple of the body's size. Not parallel: allocations are counted for
// the whole process.
func TestMemoryOfBodies(t *testing.T) {
	app := fiber.New(fiber.Config{Immutable: true})
	for name, body := range largeBodies() {
		const runs = 5
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			_ = decodeBody(app, body)
		}
		runtime.ReadMemStats(&after)
		if took := int(after.TotalAlloc-before.TotalAlloc) / runs; took > 8*len(body) {
			t.Errorf("%s: %d bytes took %d", name, len(body), took)
		}
	}
}

// Each field at fault is named, whatever is wrong with the others.
func TestFaultsHideNoOthers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{"question":"a","messages":"x","top_k":99,"bogus":1}`:             {"messages", "top_k", "bogus"},
		`{"messages":[1],"corpus":7}`:                                      {"messages", "corpus", "question"},
		`{"question":"","messages":[{"role":"bot","content":"","x":1}]}`:   {"question", "messages[0].role", "messages[0].content", "messages[0].x"},
		`{"question":"a","top_k":"3","messages":[{"role":"user","y":{}}]}`: {"top_k", "messages[0].y", "messages[0].content"},
	} {
		var failure *fault.Error
		if !errors.As(readArguments([]byte(body), new(queryRequest)), &failure) {
			t.Fatalf("%s is taken", body)
		}
		var names []string
		for _, field := range failure.Fields {
			names = append(names, field.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: at fault are %q, not %q", body, names, want)
		}
	}
}

// A text must have a character that shows. Some that Unicode calls format characters do.
func TestVisibleTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`\u0600`: true, `\u06dd12`: true, `\ue000`: true, `\u200b\u2800\ufe0f\u00a0`: false, `\ufdd0\u0001`: false} {
		if err := readArguments([]byte(`{"question":"`+text+`"}`), new(queryRequest)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
