package pages

import (
	"path"
	"strconv"
	"time"

	"handover/internal/order"
)

// ended are the grants' states that a page tells apart from "not yet".
var ended = map[order.AccessState]bool{order.AccessRevoked: true, order.AccessHeld: true}

// usable says what may be done with a grant now. The order's access outweighs the grant's own: while a refund is being
// carried out, grant by grant, none of them is good any more.
func usable(v order.View, g order.Grant) order.AccessState {
	switch {
	case v.Facts.Payment != order.PaymentConfirmed:
		return order.AccessPending
	case ended[v.Facts.Access]:
		return v.Facts.Access
	}
	return g.State
}

// available are the grants that a page may hand out now.
func available(v order.View) []order.Grant {
	var grants []order.Grant
	for _, g := range v.Grants {
		if usable(v, g) == order.AccessGranted {
			grants = append(grants, g)
		}
	}
	return grants
}

// windowOpen says whether the page by session id still offers downloads and keys. A session id shows up in logs and in
// the browser's history, and is printed in the emails; the emailed link does not, and has no such limit. After a relink an
// earlier email opens nothing, so its session id does not either.
func (s *Site) windowOpen(v order.View) bool {
	return !v.Relinked() && v.ConfirmedAt != nil && s.Now().Before(v.ConfirmedAt.Add(s.PageDownloadFor))
}

// goods are what a page hands out itself.
type goods struct {
	downloads []order.DownloadJSON
	licenses  []order.LicenseJSON
	elsewhere []string // products whose access is given at another provider
}

// goods sorts grants by what their kinds present. A download's address is under the page's.
func (s *Site) goods(grants []order.Grant, prefix string) goods {
	var g goods
	for _, grant := range grants {
		switch present := s.Kinds.Present(grant); {
		case present.File != "":
			g.downloads = append(g.downloads, order.DownloadJSON{Name: path.Base(present.File), URL: prefix + strconv.FormatInt(grant.ID, 10)})
		case present.Key != "":
			g.licenses = append(g.licenses, order.LicenseJSON{Product: s.productName(grant.Product), Key: present.Key})
		default:
			g.elsewhere = append(g.elsewhere, s.productName(grant.Product))
		}
	}
	return g
}

func (s *Site) productName(id string) string {
	if p, found := s.Catalogue.Product(id); found && p.Name != "" {
		return p.Name
	}
	return id
}

// fileOf finds a grant of the order, and of this order only, by the number in a download's address, with its file.
func (s *Site) fileOf(v order.View, number string) (grant order.Grant, file string) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != number {
		return order.Grant{}, ""
	}
	for _, g := range v.Grants {
		if g.ID == id {
			return g, s.Kinds.Present(g).File
		}
	}
	return order.Grant{}, ""
}

// refusal is the page for access that may not be used now, and whether there is one.
func refusal(v order.View, grant order.Grant) (message, bool) {
	switch usable(v, grant) {
	case order.AccessGranted:
		return message{}, false
	case order.AccessRevoked:
		if v.FullyRefunded() {
			return messageRevoked, true
		}
		return messageEnded, true
	case order.AccessHeld:
		return messageHeld, true
	}
	return messageNotYet, true
}

// closedMessage answers a download under the page by session id, once that page offers none.
func closedMessage(v order.View) message {
	if v.Relinked() {
		return messageRelinked
	}
	return messageWindow
}

// readTime bounds a read of the ledger for a page.
const readTime = 5 * time.Second
