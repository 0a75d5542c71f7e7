package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
)

// An embedder returns the vector of a text.
type embedder = func(text string) ([]float32, error)

// stored returns an embedder that keeps the vectors of a model with so many dimensions in a file,
// for measurements that embed the same texts again: a digest of the text, then its numbers.
func stored(path string, dimensions int, embed embedder) (embedder, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	known, size := map[[sha256.Size]byte][]float32{}, sha256.Size+4*dimensions
	for ; len(content) >= size; content = content[size:] {
		vector := make([]float32, dimensions)
		_ = binary.Read(bytes.NewReader(content[sha256.Size:size]), binary.LittleEndian, vector) // of this length
		known[[sha256.Size]byte(content)] = vector
	}
	if len(content) > 0 { // of a run that was killed
		err = errors.New(path + " ends within a vector: remove it")
		return nil, errors.Join(err, file.Close())
	}
	var mu sync.Mutex
	return func(text string) ([]float32, error) {
		key := sha256.Sum256([]byte(text))
		mu.Lock()
		vector := known[key]
		mu.Unlock()
		if vector != nil {
			return vector, nil
		}
		vector, err := embed(text)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		known[key] = vector
		record, _ := binary.Append(key[:], binary.LittleEndian, vector) // numbers
		_, err = file.Write(record)
		return vector, err
	}, nil
}
