package memo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// key stands for everything that a result depends on. It does not show what was asked: keys are
// seen by who runs the store.
func (m *Memo) key(request Request, version string) (string, error) {
	return keyOf("result", m.options.Settings, request.Kind, request.Identity, version, request.Subject)
}

// keyOf is a digest of parts. Written as a JSON array, no two lists of parts look the same.
func keyOf(kind string, parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("make a key for a %s: %w", kind, err)
	}
	sum := sha256.Sum256(text)
	return "tasklens:" + kind + ":" + hex.EncodeToString(sum[:]), nil
}
