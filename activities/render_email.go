package activities

import (
	"fmt"
	"strconv"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
)

// render makes the message as it will be sent on every attempt, with a placeholder where the link goes.
func (a *Activities) render(d ledger.EmailData, generation int) (ledger.Rendered, error) {
	secret := a.Links.Newest()
	token, err := a.Links.Token(secret, d.Key, d.LinkVersion)
	if err != nil {
		return ledger.Rendered{}, err
	}
	subject, text, html, err := email.RenderAccess(a.content(d))
	if err != nil {
		return ledger.Rendered{}, err
	}
	if generation > 1 {
		subject += fmt.Sprintf(" (sent again, no. %d)", generation)
	}
	hash := link.Hash(token)
	return ledger.Rendered{
		Message: order.Message{
			From: a.cfg.From, To: d.Address, ReplyTo: a.cfg.ReplyTo, Subject: subject, Text: text, HTML: html,
			EntityRef: fmt.Sprintf("%s/%d", d.Reference, generation),
			Tags: []order.Tag{
				{Name: order.TagEnvironment, Value: d.Key.Environment},
				{Name: order.TagSession, Value: d.Key.Session},
				{Name: order.TagGeneration, Value: strconv.Itoa(generation)},
			},
		},
		LinkSecret: secret,
		LinkBase:   a.Links.Base(),
		LinkHash:   hash[:],
	}, nil
}

// content is what the message says.
func (a *Activities) content(d ledger.EmailData) email.Access {
	c := email.Access{ShopName: a.cfg.ShopName, BuyerName: d.Name, OrderRef: string(d.Reference), Link: order.LinkPlaceholder, Test: a.isTest(d.Key)}
	at := map[string]int{}
	for _, g := range d.Grants {
		if g.State == order.AccessRevoked || g.State == order.AccessHeld {
			continue // a refund of a part has ended it
		}
		i, seen := at[g.Product]
		if !seen {
			i = len(c.Items)
			at[g.Product] = i
			c.Items = append(c.Items, email.AccessItem{Name: a.productName(g.Product)})
		}
		if g.File != "" {
			c.Items[i].Download = true
		}
		if g.Secret != "" {
			c.Items[i].Units = max(c.Items[i].Units, g.Unit)
			c.Licenses = append(c.Licenses, email.LicenseLine{Product: a.productName(g.Product), Key: g.Secret})
		}
	}
	return c
}

func (a *Activities) productName(id string) string {
	if p, found := a.Catalogue.Product(id); found {
		return p.Name
	}
	return id
}
