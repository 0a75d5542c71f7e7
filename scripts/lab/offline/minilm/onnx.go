package minilm

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// apiVersion is the one of ONNX Runtime's C API that this file's numbers are from. Later versions
// only append to it.
const apiVersion = 16

// Positions in OrtApi, the table of functions of onnxruntime_c_api.h.
const (
	getErrorMessage          = 2
	createEnv                = 3
	createSessionFromArray   = 8
	runSession               = 9
	createSessionOptions     = 10
	setIntraOpThreads        = 24
	createTensorWithData     = 49
	getTensorData            = 51
	createCPUMemoryInfo      = 69
	releaseStatus            = 93
	releaseValue             = 96
	tensorOfFloats, ofInt64s = 1, 7 // ONNXTensorElementDataType
)

// A session runs one network. It is safe for concurrent use and is never released: a process has
// one.
type session struct {
	api    *[releaseValue + 1]uintptr
	handle uintptr
	memory uintptr // describes the processor's memory
	inputs []*byte
	output *byte
}

// cString returns a string for C, which must be kept while C reads it.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// newSession loads the library of ONNX Runtime and a network with these inputs of int64 and this
// output of float32.
func newSession(library string, network []byte, inputs []string, output string) (*session, error) {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load ONNX Runtime: %w", err)
	}
	symbol, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("load ONNX Runtime: %w", err)
	}
	var getBase func() *struct{ GetAPI, GetVersion uintptr }
	purego.RegisterFunc(&getBase, symbol)
	var getAPI func(version uint32) *[releaseValue + 1]uintptr
	purego.RegisterFunc(&getAPI, getBase().GetAPI)
	s := &session{api: getAPI(apiVersion), output: cString(output)}
	if s.api == nil {
		return nil, errors.New("this ONNX Runtime lacks version 16 of its API")
	}
	for _, name := range inputs {
		s.inputs = append(s.inputs, cString(name))
	}
	var environment, options uintptr
	const warning, arena, defaultMemory = 2, 1, 0
	name := cString("tasklens")
	err = errors.Join(
		s.call(createEnv, warning, address(name), address(&environment)),
		s.call(createSessionOptions, address(&options)),
		// One thread a text: several texts are embedded at once, and no processor is left waiting.
		s.call(setIntraOpThreads, options, 1),
		s.call(createCPUMemoryInfo, arena, defaultMemory, address(&s.memory)),
	)
	if err == nil {
		err = s.call(createSessionFromArray, environment, address(unsafe.SliceData(network)), uintptr(len(network)), options, address(&s.handle))
	}
	runtime.KeepAlive(network)
	return s, err
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// call calls a function that returns a status, which is 0 or holds a message.
func (s *session) call(function int, arguments ...uintptr) error {
	status, _, _ := purego.SyscallN(s.api[function], arguments...)
	if status == 0 {
		return nil
	}
	var message func(status uintptr) string
	purego.RegisterFunc(&message, s.api[getErrorMessage])
	err := fmt.Errorf("ONNX Runtime: %s", message(status))
	purego.SyscallN(s.api[releaseStatus], status)
	return err
}

// run returns the output for one row of numbers an input: length × width numbers.
func (s *session) run(length, width int, rows ...[]int64) ([]float32, error) {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	shape := []int64{1, int64(length)}
	values, output := make([]uintptr, len(rows)), make([]uintptr, 1)
	pinned.Pin(&shape[0])
	pinned.Pin(&values[0])
	pinned.Pin(&output[0])
	pinned.Pin(&s.inputs[0])
	for _, name := range append(s.inputs, s.output) {
		pinned.Pin(name)
	}
	release := func(list []uintptr) {
		for _, value := range list {
			purego.SyscallN(s.api[releaseValue], value)
		}
	}
	defer release(values)
	for i, row := range rows {
		pinned.Pin(&row[0])
		if err := s.call(createTensorWithData, s.memory, address(&row[0]), uintptr(8*len(row)), address(&shape[0]), 2, ofInt64s, address(&values[i])); err != nil {
			return nil, err
		}
	}
	name := [1]*byte{s.output}
	pinned.Pin(&name)
	if err := s.call(runSession, s.handle, 0, address(&s.inputs[0]), address(&values[0]), uintptr(len(values)), address(&name[0]), 1, address(&output[0])); err != nil {
		return nil, err
	}
	defer release(output)
	data := new(*float32)
	pinned.Pin(data)
	if err := s.call(getTensorData, output[0], address(data)); err != nil {
		return nil, err
	}
	return append([]float32(nil), unsafe.Slice(*data, length*width)...), nil
}
