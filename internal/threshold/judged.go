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

// judgedLines has one ticket per line with a question that its text answers. Four tickets share a
// topic, so each question has one right text and three related ones. The set was written for this
// purpose: nothing comes from a tracker, the sample workspace or an evaluation.
//
//go:embed judged.jsonl
var judgedLines []byte

// Halves of the judged set, by topic. The threshold is fitted on one and validated on the other.
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

// input returns the text that indexing would embed for the ticket.
func (j judgement) input(tokenizer chunk.Tokenizer) string {
	return chunk.Input(chunk.Header(tokenizer, j.Project, j.Name), j.Name+"\n\n"+j.Description)
}
