package activities

import (
	"encoding/json"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
)

var discard = slog.New(slog.NewTextHandler(io.Discard, nil))

type uncounted struct{}

func (uncounted) StepEnded(string, order.Class) {}

func catalogue() *order.Catalogue {
	return order.NewCatalogue([]order.Product{
		{ID: "guide", Name: "The Guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{{Kind: "download", File: "guide.pdf"}}},
		{ID: "maps", Name: "The Maps", SoldAs: []string{"price_maps"}, Access: []order.AccessSpec{{Kind: "license"}}},
	})
}

// https://resend.com/docs/api-reference/emails/send-email#body-parameters
var resendTag = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

func TestFrozenMessageHasValidTagsAndNoLink(t *testing.T) {
	t.Parallel()
	links, err := link.New("https://shop.example", []string{strings.Repeat("n", 32), strings.Repeat("o", 32)})
	if err != nil {
		t.Fatal(err)
	}
	a := New(Deps{Catalogue: catalogue(), Links: links}, Config{From: "Shop <orders@shop.example>", ReplyTo: "help@shop.example", ShopName: "Shop"})
	for _, key := range []order.Key{
		{Environment: "live", Session: "cs_live_a1"},
		{Environment: strings.Repeat("e", 32), Session: strings.Repeat("s", 200)},
		{Environment: "two-words", Session: "a-b_C"},
	} {
		frozen, err := a.render(ledger.EmailData{
			Key: key, Address: "alex@example.com", Name: "Alex <b>", LinkVersion: 2,
			Grants: []order.Grant{
				{Product: "guide", Kind: "download", File: "guide.pdf", Unit: 1},
				{Product: "maps", Kind: "license", Unit: 1, Secret: "AAAAA-BBBBB"}, {Product: "maps", Kind: "license", Unit: 2, Secret: "CCCCC-DDDDD"},
			},
		}, 12)
		if err != nil {
			t.Fatal(err)
		}
		m := frozen.Message
		wantTags := []order.Tag{
			{Name: "handover_environment", Value: key.Environment}, {Name: "handover_session", Value: key.Session}, {Name: "handover_generation", Value: "12"},
		}
		if diff := cmp.Diff(wantTags, m.Tags); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
		for _, tag := range m.Tags {
			if !resendTag.MatchString(tag.Name) || !resendTag.MatchString(tag.Value) {
				t.Errorf("Resend refuses the tag %+v", tag)
			}
		}
		if m.From != "Shop <orders@shop.example>" || m.ReplyTo != "help@shop.example" || m.To != "alex@example.com" {
			t.Errorf("from %q, reply to %q, to %q", m.From, m.ReplyTo, m.To)
		}
		for _, wanted := range []string{"The Guide", "The Maps", "AAAAA-BBBBB", "CCCCC-DDDDD", order.LinkPlaceholder} {
			if !strings.Contains(m.Text, wanted) || !strings.Contains(m.HTML, wanted) {
				t.Errorf("%q is missing in one of the parts", wanted)
			}
		}
		token, err := links.Token(frozen.LinkSecret, key, 2)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stored), token) || strings.Contains(string(stored), "/d/") {
			t.Error("the stored message holds the link")
		}
		if hash := link.Hash(token); string(frozen.LinkHash) != string(hash[:]) || frozen.LinkSecret != links.Newest() {
			t.Error("the link's hash is not that of the newest secret's token")
		}
		if sent := m.WithLink(link.URL(frozen.LinkBase, token)); !strings.Contains(sent.Text, "https://shop.example/d/"+token) || !strings.Contains(sent.HTML, "https://shop.example/d/"+token) {
			t.Error("the message that is sent lacks the link")
		}
	}
}
