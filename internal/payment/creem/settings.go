package creem

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
	if strings.TrimSpace(cfg.Account) != "" {
		problems = append(problems, setting.Problem{Name: "account", Text: "is Stripe's: a Creem key belongs to one store; remove it"})
	}
	return append(problems, setting.Address("api_url", cfg.APIURL)...)
}

// keyProblems knows the two kinds of https://docs.creem.io/getting-started/test-mode. A key of the other mode would ask
// the wrong half of the store about every order.
func keyProblems(key string, mode order.Mode) []setting.Problem {
	isTest := strings.HasPrefix(key, testKeyPrefix)
	problem := setting.Problem{Name: "api_key"}
	switch {
	case key == "":
		problem.Missing, problem.Text = true, "write the store's API key, as ${NAME} from the environment"
	case !strings.HasPrefix(key, keyPrefix):
		problem.Text = "is not a Creem API key; those start with creem_ or creem_test_"
	case isTest && mode == order.Live:
		problem.Text = `is a test key, but the environment's mode is "live"; use the live key (creem_) or correct the mode`
	case !isTest && mode == order.Test:
		problem.Text = `is a live key, but the environment's mode is "test"; use the test key (creem_test_) or correct the mode`
	default:
		return setting.OnePiece(problem.Name, key)
	}
	return []setting.Problem{problem}
}

// secretProblems takes any text that is long enough: Creem's documents promise no prefix.
func secretProblems(secrets []string) []setting.Problem {
	const name, advice = "webhook_secrets", "paste the signing secret that the dashboard shows for this webhook"
	if len(secrets) == 0 {
		return []setting.Problem{{Name: name, Missing: true, Text: advice}}
	}
	return setting.Secrets(name, secrets, advice, func(s string) string {
		if setting.HasAnyPrefix(s, "http://", "https://", keyPrefix) {
			return fmt.Sprintf("looks like %s, not its signing secret; %s", setting.LooksLike(s), advice)
		}
		return ""
	})
}
