package workflows

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"handover/internal/order"
)

func FuzzAcceptedRequestIsReadableBoundedAndWithoutAnAddress(f *testing.F) {
	for _, seed := range []string{
		`{"reason":"the buyer asked"}`, `{"reason":"asked","request_id":"req_1"}`, `{"reason":"alex@example.com"}`, `{"reason":"alex\u0040example.com"}`,
		`{"REASON":"asked"}`, `{"reason":"a","reason":"b"}`, `{"reason":"asked","to":"x"}`, `"asked"`, `null`, ``, `{`, `{"reason":"asked"} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		raw := converter.NewRawValue(&commonpb.Payload{Data: data})
		r, refusal := parseRequest(raw)
		if again, refused := parseRequest(raw); again != r || refused != refusal {
			t.Errorf("read once as %+v %q, then as %+v %q", r, refusal, again, refused)
		}
		if looksLikeAt.MatchString(r.Reason + " " + r.RequestID) {
			t.Errorf("an address came through: %+v", r)
		}
		if refusal != order.RefusedNone {
			if refusal.Message() == "" {
				t.Errorf("refusal %q says nothing", refusal)
			}
			return
		}
		if r.Reason == "" || len(r.Reason) > mostReason || (r.RequestID != "" && !requestID.MatchString(r.RequestID)) {
			t.Errorf("accepted %+v", r)
		}
	})
}
