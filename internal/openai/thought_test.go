package openai

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// Thoughts are no part of the answer, whole or streamed, however they arrive.
func TestThoughts(t *testing.T) {
	t.Parallel()
	const thought, answer = "Source [3] may be it. I first thought so. ", "It was the valve [1].\n\nUse `<think>` and `</think>` in prompts."
	for name, c := range map[string]struct {
		text   string
		want   string
		finish string
		think  bool
	}{
		"none":                   {answer, answer, `"stop"`, false},
		"a tag":                  {"<think>\n" + thought + "\n</think>\n\n" + answer, answer, `"stop"`, true},
		"upper case":             {" <Thinking>" + thought + "</Thinking>" + answer, answer, `"stop"`, true},
		"reasoning":              {"<reasoning>" + thought + "</reasoning>\n" + answer, answer, `"stop"`, true},
		"only closed":            {thought + "\n</think>\n\n" + answer, answer, `"stop"`, true},
		"empty":                  {"<think>\n\n</think>\n\n" + answer, answer, `"stop"`, true},
		"only its end, at once":  {"</think>" + answer, answer, `"stop"`, true},
		"twice":                  {"<think>a</think>\n<think>b</think>" + answer, answer, `"stop"`, true},
		"unclosed":               {"<think>" + thought, "", `"length"`, true},
		"Magistral":              {"[THINK]" + thought + "[/THINK]" + answer, answer, `"stop"`, true},
		"channels":               {"<|channel|>analysis<|message|>" + thought + "<|end|><|start|>assistant<|channel|>final<|message|>" + answer, answer, `"stop"`, true},
		"channels, to the end":   {"<|channel|>analysis<|message|>" + thought + "<|end|><|start|>assistant<|channel|>final<|message|>" + answer + "<|return|>", answer, `"stop"`, true},
		"an attribute":           {`<think effort="high">` + thought + "</think>" + answer, answer, `"stop"`, true},
		"after a token":          {"<｜begin▁of▁sentence｜><think>" + thought + "</think>" + answer + "<｜end▁of▁sentence｜>", answer, `"stop"`, true},
		"tokens":                 {"<|START_THINKING|>" + thought + "<|END_THINKING|><|START_RESPONSE|>" + answer + "<|END_RESPONSE|>\n", answer, `"stop"`, true},
		"a solution":             {"<|begin_of_thought|>" + thought + "<|end_of_thought|>\n\n<|begin_of_solution|>" + answer + "<|end_of_solution|>", answer, `"stop"`, true},
		"unused tokens":          {"<unused94>thought\n" + thought + "<unused95>" + answer, answer, `"stop"`, true},
		"Kimi":                   {"◁think▷" + thought + "◁/think▷" + answer, answer, `"stop"`, true},
		"Gemma 4":                {"<|channel>thought\n" + thought + "<channel|>" + answer, answer, `"stop"`, true},
		"a prefix":               {"<REASONING_SCRATCHPAD>" + thought + "</REASONING_SCRATCHPAD>" + answer, answer, `"stop"`, true},
		"Seed":                   {"<seed:think>" + thought + "</seed:think>" + answer, answer, `"stop"`, true},
		"Seed, a suffix":         {"<think_never_used_51bce0c785ca2f68081bfa7d91973934>" + thought + "</think_never_used_51bce0c785ca2f68081bfa7d91973934>" + answer, answer, `"stop"`, true},
		"an answer in tags":      {"<think>a</think>\n<answer>\n" + answer + "</answer>", answer, `"stop"`, true},
		"a final answer":         {"<final>Yes, <b>so</b></final>\n", "Yes, <b>so</b>", `"stop"`, false},
		"details":                {"<details type=\"reasoning\" done=\"true\">\n<summary>Thought</summary>\n" + thought + "</details>\n" + answer, answer, `"stop"`, true},
		"other details":          {"Yes. <details><summary>Why</summary>So.</details> a < b <", "Yes. <details><summary>Why</summary>So.</details> a < b <", `"stop"`, false},
		"a token is the subject": {"It ends with <|im_end|>, a token.\n", "It ends with <|im_end|>, a token.\n", `"stop"`, false},
		"a citation":             {"[1] is the cause.", "[1] is the cause.", `"stop"`, false},
		"a comparison":           {"<3 and > 2", "<3 and > 2", `"stop"`, false},
		"a mark is the subject":  {"The prompt ends with `</think>`.", "The prompt ends with `</think>`.", `"stop"`, false},
		"no finish_reason":       {"<think>a</think>" + answer, answer, `null`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size < 12; size += 5 {
				server := &peculiar{finish: c.finish}
				for rest := []rune(c.text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
					server.content = append(server.content, string(rest[:min(size, len(rest))]))
				}
				for _, first := range []bool{true, false} {
					client := server.client(t)
					if !first {
						if said, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1000}); err != nil || said.Text != c.want || said.Thought != c.think {
							t.Errorf("whole: %+v, %v", said, err)
						}
					}
					pieces, said, err := told(client)
					if err != nil || said.Text != c.want || strings.Join(pieces, "") != c.want || said.Thought != c.think {
						t.Errorf("streamed: %q, %+v, %v", pieces, said, err)
					}
					if !first && !c.think && size == 1 && len(pieces) < len(c.want)/2 {
						t.Errorf("a model that does not think streams %d pieces", len(pieces))
					}
				}
			}
		})
	}
}

// What the server separates is left out too, and the text remains a stream.
func TestSeparateThoughts(t *testing.T) {
	t.Parallel()
	thinking := `"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`
	for name, data := range map[string][]string{
		"parts":             {delta(thinking, "null"), delta(`"content":[{"type":"text","text":"Hi "}]`, "null"), delta(`"content":[{"type":"text","text":"there"}]`, `"stop"`)},
		"reasoning_content": {delta(`"reasoning_content":"Hm."`, "null"), delta(`"content":"Hi ","reasoning_content":null`, "null"), delta(`"content":"there"`, `"stop"`)},
		"both names":        {delta(`"reasoning_content":"Hm.","reasoning":""`, "null"), delta(`"content":"Hi "`, "null"), delta(`"content":"there"`, `"stop"`)},
		"reasoning":         {delta(`"reasoning":"Hm.","content":""`, "null"), delta(`"content":"Hi "`, "null"), delta(`"content":"there"`, `"stop"`)},
	} {
		pieces, said, err := told(serveAs(t, Config{ChatModel: "m"}, events(append(data, "[DONE]")...)))
		if err != nil || said.Text != "Hi there" || !said.Thought || len(pieces) != 2 {
			t.Errorf("%s: %q, %+v, %v", name, pieces, said, err)
		}
	}
	said, err := serve(t, say(200, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Hi"}]},"finish_reason":"stop"}]}`)).Complete(t.Context(), chat.Request{MaxTokens: 1})
	if err != nil || said.Text != "Hi" || !said.Thought {
		t.Errorf("whole: %+v, %v", said, err)
	}
	said, err = serve(t, say(200, `{"choices":[{"message":{"content":{"type":"text","text":"Hi"}}}],"usage":{"prompt_tokens":"7","completion_tokens":2.0}}`)).Complete(t.Context(), chat.Request{MaxTokens: 1})
	if err != nil || said.Text != "Hi" || said.TokensOut != 2 {
		t.Errorf("one part: %+v, %v", said, err)
	}
	said, err = serve(t, say(200, `{"choices":[{"message":{"content":"","reasoning_content":"Hm, hm"},"finish_reason":"length"}]}`)).Complete(t.Context(), chat.Request{MaxTokens: 1})
	if err != nil || said.Text != "" || !said.Thought || said.Finish != chat.FinishLength {
		t.Errorf("all room used up: %+v, %v", said, err)
	}
}

// JSON is read with a fence, a sentence or thoughts around it.
func TestJSONWithinText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":"b"}`, "```json\n{\"a\":\"b\"}\n```", "Here you are: {\"a\":\"b\"}\nAnything else?", "<think>{or so}</think>{\"a\":\"b\"}", "{or so}</think>\n{\"a\":\"b\"}"} {
		server := &peculiar{content: []any{text}}
		if said, err := server.client(t).CompleteJSON(t.Context(), "", "", 9, chat.Schema{Name: "x"}); err != nil || said.Text != `{"a":"b"}` {
			t.Errorf("%q: %+v, %v", text, said, err)
		}
	}
}

// Streams end in many ways.
func TestEndsOfStreams(t *testing.T) {
	t.Parallel()
	raw := func(text string) http.HandlerFunc {
		return headed(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }, "Content-Type", "text/event-stream; charset=utf-8")
	}
	piece := "data: " + delta(`"content":"Hi"`, "null") + "\n\n"
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		good    bool
	}{
		"[DONE] alone ends it":          {raw(piece + "data: [DONE]\n\n"), true},
		"no line after [DONE]":          {raw(piece + "data: [DONE]"), true},
		"no space, and a carriage":      {raw(strings.ReplaceAll(strings.ReplaceAll(piece, "\n", "\r\n"), "data: ", "data:") + "data:[DONE]\r\n\r\n"), true},
		"a reason alone":                {raw("data: " + delta(`"content":"Hi"`, `"stop"`) + "\n"), true},
		"neither":                       {raw(piece), false},
		"no events":                     {events(), false},
		"[DONE] and nothing else":       {events("[DONE]"), false},
		"null events":                   {events("null", "null"), false},
		"null choices":                  {events(`{"choices":[null]}`, `{"choices":null}`), false},
		"invalid JSON":                  {events(delta(`"content":"Hi"`, "null"), `{"oops`), false},
		"a server that does not stream": {say(200, "\n"+`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`), true},
		"its type is lost":              {headed(raw(piece+"data: [DONE]\n\n"), "Content-Type", "text/plain"), true},
		"the model failed":              {raw(piece + "data: " + delta("", `"insufficient_system_resource"`) + "\n\ndata: [DONE]\n\n"), false},
		"a choice failed":               {raw(piece + `data: {"choices":[{"delta":{},"finish_reason":"stop","error":{"code":502}}]}` + "\n\n"), false},
		"an event of errors":            {raw(piece + "event: error\ndata: {\"code\":\"1305\"}\n\ndata: [DONE]\n\n"), false},
		"an error in other words":       {raw(piece + `data: {"code":"1305","msg":"busy"}` + "\n\ndata: [DONE]\n\n"), false},
		"an error with status 200":      {say(200, `{"error":"no"}`), false},
		"an error beside choices":       {raw(piece + `data: {"error":{"code":502,"message":"gone"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"), false},
	} {
		pieces, said, err := told(serve(t, c.handler))
		if (err == nil) != c.good || c.good && (said.Text != "Hi" || len(pieces) != 1) || err != nil && fault.CodeOf(err) != fault.Provider {
			t.Errorf("%s: %q, %+v, %v", name, pieces, said, err)
		}
	}
}

// Comments show that a server works on an answer.
func TestCommentsKeepAStreamAlive(t *testing.T) {
	t.Parallel()
	client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 32 {
			_, _ = w.Write([]byte(": keep-alive\n\n"))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		events(delta(`"content":"Hi"`, `"stop"`))(w, r)
	}, Config{AttemptTimeout: 3 * time.Second})
	if _, said, err := told(client); err != nil || said.Text != "Hi" {
		t.Errorf("%+v, %v", said, err)
	}
}
