package memo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// key is a digest of everything a result depends on. It hides the request from the operator of the
// store.
func (m *Memo) key(request Request, version string) (string, error) {
	return keyOf("result", m.options.Settings, request.Kind, request.Identity, version, request.Subject)
}

// keyOf digests the parts as a JSON array, which is unambiguous.
func keyOf(kind string, parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("make a key for a %s: %w", kind, err)
	}
	sum := sha256.Sum256(text)
	return "tasklens:" + kind + ":" + hex.EncodeToString(sum[:]), nil
}
