package crash

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// decodeInto writes every text of a decoded JSON value, and what a base64 text stands for.
func decodeInto(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			fmt.Fprintln(b, name)
			decodeInto(b, field)
		}
	case []any:
		for _, element := range v {
			decodeInto(b, element)
		}
	case string:
		fmt.Fprintln(b, v)
		if decoded, err := base64.StdEncoding.DecodeString(v); err == nil {
			fmt.Fprintln(b, string(decoded))
		}
	default:
		fmt.Fprintln(b, v)
	}
}
