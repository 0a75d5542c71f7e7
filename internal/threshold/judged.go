package threshold

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"tasklens/internal/chunk"
)

// judgedLines is a ticket a line, with a question that its text answers. Four tickets share a topic, so that each
// question has one text that answers it and three of the same topic that do not. It was written for this: nothing of
// it comes from a tracker, the sample workspace or an evaluation.
//
//go:embed judged.jsonl
var judgedLines []byte

// halves of the judged set, by topic: the threshold is chosen on one and checked on the other.
const (
	choosing = "choose"
	checking = "report"
)

// judgement is a question and the ticket that answers it.
type judgement struct {
	Topic       string `json:"topic"`
	Half        string `json:"half"`
	Question    string `json:"question"`
	Project     string `json:"project"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

var judged = sync.OnceValues(func() (all []judgement, err error) {
	decoder := json.NewDecoder(bytes.NewReader(judgedLines))
	decoder.DisallowUnknownFields()
	for {
		var one judgement
		if err := decoder.Decode(&one); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the judged set: %w", err)
		}
		all = append(all, one)
	}
})

// input is what the pipeline embeds for the ticket.
func (j judgement) input(tokenizer chunk.Tokenizer) string {
	return chunk.Input(chunk.Header(tokenizer, j.Project, j.Name), j.Name+"\n\n"+j.Description)
}
