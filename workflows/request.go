package workflows

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.temporal.io/sdk/converter"

	"handover/internal/flow"
	"handover/internal/order"
)

var (
	requestID   = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,128}$`)
	looksLikeAt = regexp.MustCompile(`[^\s@]+@[^\s@]+\.[^\s@]+`)
)

// mostReason bounds the text of a reason, in bytes.
const mostReason = 500

// parseRequest reads a payload, and says why it is refused rather than dropping it.
func parseRequest(raw converter.RawValue) (flow.Request, order.Refusal) {
	data := bytes.TrimSpace(raw.Payload().GetData())
	if len(data) == 0 || string(data) == "null" {
		return flow.Request{}, order.RefusedNoReason
	}
	if looksLikeAt.Match(data) || namesAnAddress(data) {
		return flow.Request{}, order.RefusedAddress
	}
	var r flow.Request
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || !errors.Is(decoder.Decode(new(json.RawMessage)), io.EOF) {
		return flow.Request{}, order.RefusedUnreadable
	}
	r.Reason = strings.TrimSpace(r.Reason)
	switch {
	case looksLikeAt.MatchString(r.Reason): // written with escapes
		return flow.Request{}, order.RefusedAddress
	case r.RequestID != "" && !requestID.MatchString(r.RequestID), len(r.Reason) > mostReason:
		return flow.Request{}, order.RefusedUnreadable
	case r.Reason == "":
		return flow.Request{RequestID: r.RequestID}, order.RefusedNoReason
	}
	return r, order.RefusedNone
}

// namesAnAddress says that somebody tries to say where to send, even with an address that is none.
func namesAnAddress(data []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return false
	}
	for _, name := range []string{"to", "address", "email"} {
		if _, found := fields[name]; found {
			return true
		}
	}
	return false
}
