package app

import (
	"handover/internal/email"
	emailregistry "handover/internal/email/registry"
	"handover/internal/notify"
	"handover/internal/setting"
)

// Owner notifies the shop's owner through the sender.
func (p *Process) Owner(sender email.Sender) *notify.Notifier {
	key, _ := setting.SigningKey(p.Config.Alerts.Secret.Reveal()) // none where there is no secret: the configuration was checked
	return notify.New(notify.Config{From: p.Config.Email.From, Emails: p.Config.Alerts.Email, URL: p.Config.Alerts.URL, Key: key, Sender: sender})
}

// OpenOwner is Owner for a process that sends nothing else.
func (p *Process) OpenOwner() (*notify.Notifier, error) {
	sender, err := emailregistry.Open(p.Config.Email, p.Config.Steps.Email)
	if err != nil {
		return nil, err
	}
	return p.Owner(sender), nil
}
