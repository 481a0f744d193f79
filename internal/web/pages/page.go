package pages

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

// status is how a state looks: the word is a class of the style sheet and picks the icon.
type status string

const (
	statusDone status = "done"
	statusWait status = "wait"
	statusTodo status = "todo"
	statusCare status = "care" // a person has to act
	statusStop status = "stop"
)

// pageModel is everything the order page shows.
type pageModel struct {
	layout
	kind       pageKind
	State      order.CustomerState
	Version    string // changes when the page has something else to say; order.js makes the same of the JSON
	Status     status
	Badge      string
	Headline   string
	Paragraphs []string
	Notice     string
	Test       bool // no real money was paid
	ByLink     bool // the page behind the emailed link
	Downloads  []order.DownloadJSON
	Licenses   []order.LicenseJSON
	Elsewhere  []string // products whose access is given at another provider
	Closed     string   // where the downloads are, once this page offers none any more
	Withdrawn  []string // products of which something was taken back while the rest stays
	Resend     string   // where "send it again" goes; empty for no button
	Facts      []fact
	Items      []itemLine
	Total      string
	Order      string
	AskShop    bool
}

type itemLine struct {
	Name  string
	Times string // "× 3"; empty for one
}

func (s *Site) orderModel(v order.View, kind pageKind) *pageModel {
	state := v.Facts.CustomerState()
	w := wordsFor(v)
	m := &pageModel{
		kind:  kind,
		State: state,
		Version: string(v.Facts.Payment) + " " + string(v.Facts.Access) + " " + string(v.Facts.Email) + " " +
			string(v.Facts.Delivery) + " " + string(state),
		Status:     w.status,
		Badge:      w.badge,
		Headline:   v.Headline(),
		Paragraphs: w.paragraphs,
		AskShop:    w.askShop,
		Facts:      factLines(v),
		Total:      v.Total.String(),
		Test:       s.Test(v.Key.Environment),
		ByLink:     kind == pageByLink,
		Order:      string(v.Reference), // the session id opens the page, so it is not shown
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
	m.layout = s.layout(m.Headline)
	m.Live = kind == pageBySession && !state.Settled()
	return m
}

// showGrants puts the grants on the page, or says where they are once the page does not hand them out any more.
func (m *pageModel) showGrants(s *Site, v order.View, open bool, prefix string) {
	grants := available(v)
	goods := s.goods(grants, prefix)
	m.Elsewhere = goods.elsewhere
	if len(grants) > 0 {
		for _, g := range v.Grants {
			if ended[usable(v, g)] {
				m.Withdrawn = append(m.Withdrawn, s.productName(g.Product))
			}
		}
	}
	if len(goods.downloads)+len(goods.licenses) == 0 {
		return
	}
	if !open {
		m.Closed = closedText(v)
		m.AskShop = m.AskShop || v.Facts.Email != order.EmailAccepted
		return
	}
	m.Downloads, m.Licenses = goods.downloads, goods.licenses
	if m.State == order.CustomerReady && m.kind == pageBySession {
		m.Paragraphs[0] += " The link in it keeps working."
	}
	if m.Status == statusDone {
		m.Headline = readyHeadline(len(goods.downloads))
		m.Title = m.Headline
	}
}
