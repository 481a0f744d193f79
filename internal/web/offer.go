package web

import (
	"path"
	"strconv"
	"time"

	"handover/internal/order"
)

// The kinds of access that a page can hand out itself.
const (
	kindDownload order.AccessKind = "download"
	kindLicense  order.AccessKind = "license"
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

// offered are the grants that a page may hand out now.
func offered(v order.View) []order.Grant {
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
func (s *server) windowOpen(v order.View) bool {
	return !v.Relinked() && v.ConfirmedAt != nil && s.Now().Before(v.ConfirmedAt.Add(s.PageDownloadFor))
}

// downloads lists the files on offer, with their addresses under the page's.
func downloads(grants []order.Grant, prefix string) []DownloadJSON {
	var list []DownloadJSON
	for _, g := range grants {
		if g.Kind == kindDownload && g.File != "" {
			list = append(list, DownloadJSON{Name: path.Base(g.File), URL: prefix + strconv.FormatInt(g.ID, 10)})
		}
	}
	return list
}

func (s *server) licenses(grants []order.Grant) []LicenseJSON {
	var list []LicenseJSON
	for _, g := range grants {
		if g.Kind == kindLicense && g.Secret != "" {
			list = append(list, LicenseJSON{Product: s.productName(g.Product), Key: g.Secret})
		}
	}
	return list
}

func (s *server) productName(id string) string {
	if p, found := s.Catalogue.Product(id); found && p.Name != "" {
		return p.Name
	}
	return id
}

// grantOf finds a grant of the order, and of this order only, by the number in a download's address.
func grantOf(v order.View, number string) (order.Grant, bool) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != number {
		return order.Grant{}, false
	}
	for _, g := range v.Grants {
		if g.ID == id && g.Kind == kindDownload && g.File != "" {
			return g, true
		}
	}
	return order.Grant{}, false
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

// readTime bounds a look into the ledger for a page.
const readTime = 5 * time.Second
