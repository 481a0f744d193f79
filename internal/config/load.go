package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"handover/internal/access"
	"handover/internal/order"
	"handover/internal/setting"
)

// Known are the adapters that this binary has, by the words that the configuration uses for them. Each checks its own
// settings.
type Known struct {
	Payment map[string]func(Environment) []setting.Problem
	Email   map[string]func(Email) []setting.Problem
	Access  access.Kinds
	// NoLinks says that the process makes no links: the secrets of them may be missing, and their variables unset.
	NoLinks bool
}

// Load reads the shop's configuration from the file at path, with every default filled in. ${NAME} inside a text takes
// the value of an environment variable. The error joins everything that is wrong, a line each, with file and line, and
// never shows a secret.
func Load(path string, getenv func(string) (string, bool), known Known) (Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w; create the file, or name another one in HANDOVER_CONFIG", err)
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	values := map[string]any{}
	if _, err := toml.Decode(text, &values); err != nil {
		return Config{}, syntaxError(path, text, err)
	}
	p := newProblems(path, text)
	r := &reader{p: p, known: known}
	c := r.config(&table{values: values, p: p, getenv: getenv})
	if err := p.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// reader turns the tables of the file into a Config and checks each value where it reads it, so that every message has
// its line.
type reader struct {
	p     *problems
	known Known
}

func (r *reader) config(t *table) Config {
	c := defaults()
	t.text("public_url", &c.PublicURL)
	c.PublicURL = r.publicURL(t.at("public_url"), c.PublicURL)
	if !r.known.NoLinks || t.resolvable("link_secrets") {
		c.LinkSecrets = r.linkSecrets(t.at("link_secrets"), t.texts("link_secrets"))
	}
	c.Environments = r.environments(t.table("environments"))
	r.email(t.table("email"), &c.Email)
	r.alerts(t.table("alerts"), &c.Alerts)
	c.Products = r.products(t)
	r.files(t.table("files"), &c)
	r.orders(t.table("orders"), &c.Orders)
	r.steps(t.table("steps"), &c)
	t.done()
	return c
}

// DefaultUnreachedAfter is unreached_after where nothing is written.
const DefaultUnreachedAfter = 24 * time.Hour

// defaults is what a shop gets that writes none of it.
func defaults() Config {
	return Config{
		Email: Email{RatePerSecond: 2, IdempotencyWindow: 24 * time.Hour},
		Orders: Orders{
			OpenFor:         30 * 24 * time.Hour,
			AwaitPaymentFor: 14 * 24 * time.Hour,
			PageDownloadFor: 24 * time.Hour,
			StuckAfter:      30 * time.Minute,
			UnreachedAfter:  DefaultUnreachedAfter,
			AttentionAfter:  2 * time.Hour,
		},
		Steps: DefaultSteps(),
	}
}

// DefaultSteps outlast, without a person, what really happens: a payment provider that is away for a day, which is read from
// every 15 minutes because a read costs nothing, and an email provider that is away for 20 hours, inside the time in which it
// keeps its keys.
func DefaultSteps() Steps {
	step := Step{
		Attempts:    8,
		FirstWait:   10 * time.Second,
		Factor:      3,
		LongestWait: 6 * time.Hour,
		GiveUpAfter: 24 * time.Hour,
		CallTimeout: 15 * time.Second,
	}
	payment, email := step, step
	payment.Attempts, payment.LongestWait, payment.GiveUpAfter = 110, 15*time.Minute, 30*time.Hour
	email.Attempts, email.GiveUpAfter = 11, 22*time.Hour
	return Steps{Payment: payment, Access: step, Email: email, Revoke: step}
}

func (r *reader) environments(t *table) map[string]Environment {
	environments := map[string]Environment{}
	if len(t.values) == 0 {
		r.p.add(t.path, "is missing; add [environments.live] with the provider, mode, api_key and webhook_secrets of a payment account")
	}
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		if _, ok := t.values[name].(map[string]any); !ok {
			r.p.add(t.at(name), "must be a table; a payment account's settings stand below [environments.NAME], for example [environments.live]")
			continue
		}
		environments[name] = r.environment(name, t.table(name))
	}
	return environments
}

func (r *reader) environment(name string, t *table) Environment {
	e := Environment{Name: name}
	var mode string
	t.text("provider", &e.Provider)
	t.text("mode", &mode)
	t.secret("api_key", &e.APIKey)
	e.WebhookSecrets = t.secrets("webhook_secrets")
	t.text("account", &e.Account)
	t.text("api_url", &e.APIURL)
	t.done()

	if !order.ValidEnvironment(name) {
		r.p.add(t.path, "has a name that cannot stand in an address; use 1 to 32 lower-case letters, digits and dashes")
	}
	r.oneOf(t.at("provider"), e.Provider, slices.Sorted(maps.Keys(r.known.Payment)))
	r.oneOf(t.at("mode"), mode, []string{string(order.Live), string(order.Test)})
	e.Mode = order.Mode(mode)
	e.Account, e.APIURL = strings.TrimSpace(e.Account), cleanURL(e.APIURL)
	if problems, found := r.known.Payment[e.Provider]; found {
		r.report(t, problems(e))
	}
	return e
}

func (r *reader) email(t *table, e *Email) {
	if len(t.values) == 0 {
		r.p.add(t.path, "is missing; add [email] with provider, api_key and from")
		return
	}
	t.text("provider", &e.Provider)
	t.secret("api_key", &e.APIKey)
	t.text("from", &e.From)
	t.text("reply_to", &e.ReplyTo)
	e.WebhookSecrets = t.secrets("webhook_secrets")
	t.number("rate_per_second", &e.RatePerSecond)
	t.duration("idempotency_window", &e.IdempotencyWindow)
	t.text("api_url", &e.APIURL)
	t.done()

	r.oneOf(t.at("provider"), e.Provider, slices.Sorted(maps.Keys(r.known.Email)))
	e.From = r.sender(t.at("from"), e.From, true)
	e.ReplyTo = r.sender(t.at("reply_to"), e.ReplyTo, false)
	if !(e.RatePerSecond > 0 && e.RatePerSecond <= 1000) {
		r.p.add(t.at("rate_per_second"), "must be above 0 and at most 1000; the provider's own limit is the one to write")
	}
	if e.IdempotencyWindow <= 0 {
		r.p.add(t.at("idempotency_window"), "must be longer than nothing; write how long the provider keeps an idempotency key")
	}
	e.APIURL = cleanURL(e.APIURL)
	if problems, found := r.known.Email[e.Provider]; found {
		r.report(t, problems(*e))
	}
}

// report adds what an adapter says against its own settings.
func (r *reader) report(t *table, problems []setting.Problem) {
	for _, p := range problems {
		key, index, _ := strings.Cut(p.Name, "[")
		path := t.at(key)
		if index != "" {
			path += "[" + index
		}
		if p.Missing {
			r.p.empty(path, p.Text)
		} else {
			r.p.add(path, "%s", p.Text)
		}
	}
}

func (r *reader) alerts(t *table, a *Alerts) {
	a.Email = t.texts("email")
	t.text("url", &a.URL)
	t.secret("secret", &a.Secret)
	t.done()
	for i, address := range a.Email {
		clean, ok := order.CleanAddress(address)
		if !ok {
			r.p.add(element(t.at("email"), i), "is not an email address; write it without a name, like owner@example.com")
		}
		a.Email[i] = clean
	}
	a.URL = r.webURL(t.at("url"), a.URL)
	if u, ok := parseWeb(a.URL); ok && u.Scheme != "https" && !loopback(u.Hostname()) {
		r.p.add(t.at("url"), "is not https: an alert names orders, and travels in the open; only an address of this machine may be http")
	}
	secret := a.Secret.Reveal()
	if key, err := setting.SigningKey(secret); secret != "" && (err != nil || len(key) < setting.MinSecret || !strings.HasPrefix(secret, setting.SecretPrefix)) {
		r.p.add(t.at("secret"), "is not %s and the base64 of %d bytes or more; this makes one: echo whsec_$(openssl rand -base64 32)", setting.SecretPrefix, setting.MinSecret)
	}
}

func (r *reader) orders(t *table, o *Orders) {
	t.duration("open_for", &o.OpenFor)
	t.duration("await_payment_for", &o.AwaitPaymentFor)
	t.duration("page_download_for", &o.PageDownloadFor)
	t.duration("stuck_after", &o.StuckAfter)
	t.duration("unreached_after", &o.UnreachedAfter)
	t.duration("attention_after", &o.AttentionAfter)
	t.done()
	if o.OpenFor <= 0 {
		r.p.add(t.at("open_for"), "must be longer than nothing; the default is 720h")
	}
	if o.AwaitPaymentFor <= 0 {
		r.p.add(t.at("await_payment_for"), "must be longer than nothing; the default is 336h")
	}
	if o.PageDownloadFor < 0 {
		r.p.add(t.at("page_download_for"), "must not be negative; 0s keeps downloads to the emailed link")
	}
	if o.StuckAfter < time.Second {
		r.p.add(t.at("stuck_after"), "is %s; write 1s or more, the default is 30m", o.StuckAfter)
	}
	if o.UnreachedAfter <= 0 {
		r.p.add(t.at("unreached_after"), "must be longer than nothing; the default is 24h")
	}
	if o.AttentionAfter < o.StuckAfter {
		r.p.add(t.at("attention_after"), "is %s, shorter than stuck_after (%s): an order is tried again before a person is asked", o.AttentionAfter, o.StuckAfter)
	}
}

var quotedText = regexp.MustCompile(`(["'])([^"']{3,})["']`)

// syntaxError tells where a file stops being TOML. The parser's message may quote the file, and the place of a typing
// mistake is often a secret's: only the names of keys are let through.
func syntaxError(path, text string, err error) error {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("%s: is not valid TOML; save it as UTF-8 text", path)
	}
	var keys string
	if lines := strings.Split(text, "\n"); parse.Position.Line >= 1 && parse.Position.Line <= len(lines) {
		line := lines[parse.Position.Line-1]
		before, _, isPair := strings.Cut(line, "=")
		if isPair || strings.HasPrefix(strings.TrimSpace(line), "[") {
			keys = before
		}
	}
	message := quotedText.ReplaceAllStringFunc(strings.TrimRight(parse.Message, "."), func(quoted string) string {
		if strings.Contains(keys, quoted[1:len(quoted)-1]) {
			return quoted
		}
		return "(hidden)"
	})
	return fmt.Errorf("%s:%d: is not valid TOML: %s; texts stand in double quotes, every setting on a line of its own",
		path, parse.Position.Line, message)
}
