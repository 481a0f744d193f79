package setup

import (
	"handover/internal/alert"
	"handover/internal/email"
	"handover/internal/email/senders"
)

// Owner tells the shop's owner through the sender.
func (p *Process) Owner(sender email.Sender) *alert.Teller {
	return alert.New(alert.Config{From: p.Config.Email.From, Emails: p.Config.Alerts.Email, URL: p.Config.Alerts.URL, Sender: sender})
}

// OpenOwner is Owner for a process that sends nothing else.
func (p *Process) OpenOwner() (*alert.Teller, error) {
	sender, err := senders.Open(p.Config.Email, p.Config.Steps.Email)
	if err != nil {
		return nil, err
	}
	return p.Owner(sender), nil
}
