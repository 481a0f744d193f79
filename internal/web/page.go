package web

import (
	"strconv"

	"handover/internal/order"
)

// pageKind says by what the buyer came.
type pageKind int

const (
	pageBySession pageKind = iota // the page the checkout leads back to
	pageByLink                    // the emailed link
)

// tone is how a state looks: the word is a class of the style sheet and picks the icon.
type tone string

const (
	toneDone tone = "done"
	toneWait tone = "wait"
	toneTodo tone = "todo"
	toneCare tone = "care" // somebody has to look at it
	toneStop tone = "stop"
)

// pageModel is everything the order page shows.
type pageModel struct {
	chrome
	kind      pageKind
	State     order.CustomerState
	Version   string // changes when the page has something else to say; order.js makes the same of the JSON
	Tone      tone
	Pill      string
	Headline  string
	Lead      []string
	Notice    string
	Downloads []DownloadJSON
	Licenses  []LicenseJSON
	Elsewhere []string // products whose access is given at another provider
	Closed    string   // where the downloads are, once this page offers none any more
	Lost      []string // products of which something was taken back while the rest stays
	Resend    string   // where "send it again" goes; empty for no button
	Facts     []fact
	Items     []itemLine
	Total     string
	Order     string
	AskShop   bool
}

type itemLine struct {
	Name  string
	Times string // "× 3"; empty for one
}

func (s *server) orderModel(v order.View, kind pageKind) *pageModel {
	state := v.Facts.CustomerState()
	w := wordsFor(v)
	m := &pageModel{
		kind:  kind,
		State: state,
		Version: string(v.Facts.Payment) + " " + string(v.Facts.Access) + " " + string(v.Facts.Email) + " " +
			string(v.Facts.Delivery) + " " + string(state),
		Tone:     w.tone,
		Pill:     w.pill,
		Headline: w.headline,
		Lead:     w.lead,
		AskShop:  w.askShop,
		Facts:    factLines(v),
		Total:    v.Total.String(),
		Order:    v.Key.String(),
	}
	for _, item := range v.Items {
		line := itemLine{Name: item.Name}
		if item.Product != "" {
			line.Name = s.productName(item.Product)
		}
		if item.Quantity > 1 {
			line.Times = "× " + strconv.FormatInt(item.Quantity, 10)
		}
		if line.Name != "" {
			m.Items = append(m.Items, line)
		}
	}
	m.chrome = s.chrome(w.headline)
	m.Live = kind == pageBySession && !state.Settled()
	return m
}

// offer puts the grants on the page, or says where they are now that the page does not offer them any more.
func (m *pageModel) offer(s *server, v order.View, open bool, prefix string) {
	grants := offered(v)
	for _, g := range grants {
		if g.Kind != kindDownload && g.Kind != kindLicense {
			m.Elsewhere = append(m.Elsewhere, s.productName(g.Product))
		}
	}
	if len(grants) > 0 {
		for _, g := range v.Grants {
			if ended[usable(v, g)] {
				m.Lost = append(m.Lost, s.productName(g.Product))
			}
		}
	}
	files, keys := downloads(grants, prefix), s.licenses(grants)
	if len(files)+len(keys) == 0 {
		return
	}
	if !open {
		m.Closed = closedText(v)
		m.AskShop = m.AskShop || v.Facts.Email != order.EmailAccepted
		return
	}
	m.Downloads, m.Licenses = files, keys
	if m.State == order.CustomerReady && m.kind == pageBySession {
		m.Lead[0] += " The link in it keeps working."
	}
	if m.Tone == toneDone {
		m.Headline = readyHeadline(len(files))
		m.Title = m.Headline
	}
}
