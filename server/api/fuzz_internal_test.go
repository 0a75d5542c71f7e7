package api

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"tasklens/internal/fault"
	"tasklens/internal/knowledge"
	"tasklens/internal/search"
)

// Any body is either decoded into a request that passes its own check, or rejected as invalid with
// a response of bounded size.
func FuzzBody(f *testing.F) {
	makers := []func() any{
		func() any { return new(searchRequest) }, func() any { return new(queryRequest) }, func() any { return new(generateRequest) },
		func() any { return new(search.Draft) }, func() any { return new(knowledge.Draft) }, func() any { return new(feedbackRequest) },
		func() any { return new(enrichRequest) },
	}
	for i, body := range []string{
		`{"query":"a","limit":5,"offset":1000,"facets":null}`, `{"question":"a","corpus":"all","match_threshold":1e-9,"stream":false}`,
		`{"project_id":9223372036854775807,"ticket_id":null,"force":true}`, `{"text":" \u0000","limit":"1"}`,
		`{"title":"a","content":"b","keywords":["k",null],"id":"5"}`, `{"helpful":1,"helpful":true}`, `{"batch_size":0.5,"x":[[[{}]]]}`,
	} {
		f.Add(uint8(i), body)
		f.Add(uint8(i), body+"{}")
	}
	app := fiber.New()
	f.Fuzz(func(t *testing.T, kind uint8, body string) {
		c := app.AcquireCtx(&fasthttp.RequestCtx{})
		defer app.ReleaseCtx(c)
		c.Request().Header.SetContentType("application/json")
		c.Request().SetBodyString(body)
		into := makers[int(kind)%len(makers)]()
		err := newInput(into).readBody(c)
		if err == nil {
			if more, is := into.(checked); is {
				more.check(func(bad bool, field, format string, _ ...any) {
					if bad {
						t.Errorf("%q was accepted, but %s %s", body, field, format)
					}
				})
			}
			return
		}
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Code != fault.Invalid || len(refused.Fields) > maxReported {
			t.Fatalf("%q: %v", body, err)
		}
		for _, field := range refused.Fields {
			if field.Name == "" && !strings.Contains(body, `""`) || len(field.Name) > maxFieldName || !utf8.ValidString(field.Name+field.Message) {
				t.Errorf("%q: field %q %q", body, field.Name, field.Message)
			}
		}
	})
}
