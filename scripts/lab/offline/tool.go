package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"tasklens/scripts/lab/offline/extract"
	"tasklens/scripts/lab/offline/figures"
)

// tool is one that a request offers.
type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Required []string `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}

// toolCall is a call of it.
type toolCall struct {
	Index    *int     `json:"index,omitempty"` // in a stream
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// reply answers a prompt, or calls a tool that takes what figures.Call has.
func (c chatRequest) reply(message string) (text string, call *toolCall) {
	prompt, hasSources := extract.ParsePrompt(message)
	var turns []figures.Turn
	for _, turn := range prompt.Turns {
		turns = append(turns, figures.Turn(turn))
	}
	thread, alone := figures.Thread(prompt.Question, turns)
	for _, t := range c.Tools {
		if !slices.Contains(t.Function.Parameters.Required, "group_by") {
			continue
		}
		if read, is := figures.Read(thread, known(prompt), prompt.Today); is {
			arguments, _ := json.Marshal(read) // strings, numbers and lists of them
			return "", &toolCall{ID: "call_offline", Type: "function", Function: function{t.Function.Name, string(arguments)}}
		}
	}
	prompt.Question = alone
	if !hasSources {
		return extract.NoSources, nil
	}
	return prompt.Answer(), nil
}

// known are the names in the sources.
func known(prompt extract.Prompt) figures.Names {
	names := figures.Names{}
	for _, s := range prompt.Sources {
		names["project"] = append(names["project"], s.Project, s.Key)
		names["status"] = append(names["status"], s.Status)
		for _, field := range []string{"assignee", "reporter", "type", "priority"} {
			names[field] = append(names[field], s.Fields[field])
		}
		names["label"] = append(names["label"], strings.Split(s.Fields["labels"], ", ")...)
	}
	return names
}
