package check

import (
	"context"

	"handover/internal/email"
)

// sender inspects the email provider's account.
func (s Shop) sender(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	opened, err := s.OpenSender(s.Config.Email, s.Config.Steps.Email)
	if err != nil {
		return []Check{fail(email.FindingKey, err.Error(), "Fix it below [email].")}
	}
	inspector, offered := opened.(email.Inspector)
	if !offered {
		return []Check{warn(email.FindingKey, "the account at "+s.Config.Email.Provider+" cannot be inspected", "Buy something once, and see whether the email arrives.")}
	}
	return checksOf("", inspector.Inspect(ctx, s.Config.Email.From)...)
}
