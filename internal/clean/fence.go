package clean

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Fence returns a mark that occurs nowhere in a text, so no part of it can close a tag with that
// mark. It is derived from the text, so equal texts have equal marks.
func Fence(text string) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256([]byte(fmt.Sprint(salt, text)))
		mark := hex.EncodeToString(sum[:6])
		if !strings.Contains(text, mark) {
			return mark
		}
	}
}
