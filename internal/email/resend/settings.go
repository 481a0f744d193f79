package resend

import (
	"fmt"
	"strings"
	"time"

	"handover/internal/setting"
)

// keptFor is how long Resend keeps an idempotency key (https://resend.com/docs/dashboard/emails/idempotency-keys). Later
// the same request is a second message.
const keptFor = 24 * time.Hour

// Problems lists what is wrong with the settings.
func Problems(cfg Config) []setting.Problem {
	problems := keyProblems(strings.TrimSpace(cfg.APIKey))
	problems = append(problems, secretProblems(cfg.WebhookSecrets)...)
	if cfg.Window > keptFor {
		problems = append(problems, setting.Problem{Name: "idempotency_window", Text: fmt.Sprintf(
			"is %s, but Resend keeps an idempotency key for %s only: a later attempt would be a second email; write at most %s", cfg.Window, keptFor, keptFor)})
	}
	return append(problems, setting.Address("api_url", cfg.APIURL)...)
}

func keyProblems(key string) []setting.Problem {
	switch {
	case key == "":
		return []setting.Problem{{Name: "api_key", Missing: true, Text: "write the email provider's API key, as ${NAME} from the environment"}}
	case setting.HasAnyPrefix(key, setting.SecretPrefix, "http://", "https://"):
		return []setting.Problem{{Name: "api_key", Text: fmt.Sprintf("looks like %s, not like an API key", setting.LooksLike(key))}}
	}
	return setting.OnePiece("api_key", key)
}

func secretProblems(secrets []string) []setting.Problem {
	const advice = "paste the signing secret of the email provider's webhook; it starts with whsec_"
	return setting.Secrets("webhook_secrets", secrets, advice, func(s string) string {
		like, prefixed := setting.LooksLike(s), strings.HasPrefix(s, setting.SecretPrefix)
		key, err := setting.SigningKey(s)
		switch {
		case s == "":
			return ""
		case !prefixed && like != "":
			return fmt.Sprintf("looks like %s, not its signing secret; %s", like, advice)
		case !prefixed:
			return "is not a signing secret; " + advice
		case err != nil:
			return "is damaged: what follows whsec_ is not base64; " + advice
		case len(key) < setting.MinSecret:
			return fmt.Sprintf("is too short to be a signing secret: %d bytes; %s", len(key), advice)
		}
		return ""
	})
}
