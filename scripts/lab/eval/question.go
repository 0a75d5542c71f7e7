package eval

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// readQuestions reads a file of JSON objects, plain or, with .gz after its name, gzipped. If it is
// the project's own, fields that T lacks are an error.
func readQuestions[T any](path string, own bool, check func(T) error) (list []T, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if zipped, missing := os.Open(path + ".gz"); missing == nil {
			file, err = zipped, nil
		}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var text io.Reader = file
	if strings.HasSuffix(file.Name(), ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("unzip %s: %w", file.Name(), err)
		}
	}
	decoder := json.NewDecoder(text)
	if own {
		decoder.DisallowUnknownFields()
	}
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
