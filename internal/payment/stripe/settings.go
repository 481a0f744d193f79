package stripe

import (
	"fmt"
	"strings"

	"handover/internal/order"
	"handover/internal/setting"
)

// Problems lists what is wrong with the settings.
func Problems(cfg Config) []setting.Problem {
	problems := keyProblems(strings.TrimSpace(cfg.APIKey), cfg.Mode)
	if cfg.Mode != order.Live && cfg.Mode != order.Test {
		problems = append(problems, setting.Problem{Name: "mode", Text: "is neither live nor test"})
	}
	problems = append(problems, secretProblems(cfg.WebhookSecrets)...)
	if account := strings.TrimSpace(cfg.Account); account != "" && !strings.HasPrefix(account, "acct_") {
		problems = append(problems, setting.Problem{Name: "account", Text: "is not a Stripe account id; those start with acct_"})
	}
	return append(problems, setting.Address("api_url", cfg.APIURL)...)
}

// keyProblems knows the prefixes of https://docs.stripe.com/keys. A key of the other mode would ask the wrong half of the
// account about every order.
func keyProblems(key string, mode order.Mode) []setting.Problem {
	isLive := setting.HasAnyPrefix(key, "sk_live_", "rk_live_")
	isTest := setting.HasAnyPrefix(key, "sk_test_", "rk_test_")
	problem := setting.Problem{Name: "api_key"}
	switch {
	case key == "":
		problem.Missing, problem.Text = true, "write the payment account's secret API key, as ${NAME} from the environment"
	case isLive && mode == order.Test:
		problem.Text = `is a live key, but the environment's mode is "test"; use the test key (sk_test_ or rk_test_) or correct the mode`
	case isTest && mode == order.Live:
		problem.Text = `is a test key, but the environment's mode is "live"; use the live key (sk_live_ or rk_live_) or correct the mode`
	case setting.HasAnyPrefix(key, "pk_", setting.SecretPrefix, "we_", "acct_", "http"):
		problem.Text = fmt.Sprintf("looks like %s, not like a secret API key; paste the one that starts with sk_ or rk_", setting.LooksLike(key))
	default:
		return setting.OnePiece(problem.Name, key)
	}
	return []setting.Problem{problem}
}

func secretProblems(secrets []string) []setting.Problem {
	const name, advice = "webhook_secrets", "paste the signing secret that Stripe shows for this webhook endpoint"
	if len(secrets) == 0 {
		return []setting.Problem{{Name: name, Missing: true, Text: advice}}
	}
	return setting.Secrets(name, secrets, advice, func(s string) string {
		switch like := setting.LooksLike(s); {
		case strings.HasPrefix(s, setting.SecretPrefix):
			return ""
		case like != "":
			return fmt.Sprintf("looks like %s, not its signing secret; paste the one that starts with whsec_", like)
		}
		return "is not a Stripe signing secret; those start with whsec_ and are shown with the endpoint"
	})
}
