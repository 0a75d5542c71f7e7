package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// readQuestions reads a file of JSON objects. Fields that T lacks are an error.
func readQuestions[T any](path string, check func(T) error) (list []T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	for {
		var one T
		err := decoder.Decode(&one)
		if err == io.EOF {
			return list, nil
		}
		if err == nil {
			err = check(one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, question %d: %w", path, len(list)+1, err)
		}
		list = append(list, one)
	}
}
