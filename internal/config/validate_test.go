package config_test

import (
	"strings"
	"testing"

	"handover/internal/config"
)

const product = `
[files]
bucket = "file:///srv/files"
[[products]]
id = "guide"
name = "The Guide"
sold_as = ["price_1"]
access = [{ kind = "download", file = "guide.pdf" }, { kind = "license" }]
`

// refusal replaces one piece of a good file, or sets a variable, and wants one problem.
type refusal struct {
	name     string
	old, new string
	env      string // NAME=value
	want     string // "LINE: path: beginning of the message", or empty for no problem
	also     string // further on in the message
}

func (r refusal) run(t *testing.T) {
	t.Helper()
	base := smallest + product
	if !strings.Contains(base, r.old) {
		t.Fatalf("the base has no %q", r.old)
	}
	env := secrets()
	if name, value, found := strings.Cut(r.env, "="); found {
		env[name] = value
	}
	path := write(t, strings.Replace(base, r.old, r.new, 1))
	_, err := config.Load(path, lookup(env), known)
	if r.want == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("accepted; want %q", r.want)
	}
	got := strings.ReplaceAll(err.Error(), path+":", "")
	if !strings.HasPrefix(got, r.want) || !strings.Contains(got, r.also) {
		t.Errorf("got  %q\nwant %q … %q", got, r.want, r.also)
	}
	if strings.Contains(got, "\n") {
		t.Errorf("more than one problem:\n%s", got)
	}
	for name, secret := range env {
		if len(secret) > 3 && strings.Contains(got, strings.TrimSpace(secret)) {
			t.Errorf("the value of %s is in the message: %s", name, got)
		}
	}
}

func runAll(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	const old = `public_url = "http://localhost:8080"`
	runAll(t, []refusal{
		{name: "https", old: old, new: `public_url = "https://x.example"`},
		{name: "port and slash", old: old, new: `public_url = "https://x.example:8443//"`},
		{name: "IPv6", old: old, new: `public_url = "http://[::1]:8080"`},
		{name: "missing", old: old, new: ``, want: ` public_url: is missing; write the address`},
		{name: "empty", old: old, new: `public_url = ""`, want: `1: public_url: is empty; `},
		{name: "empty variable", old: old, new: `public_url = "${U}"`, env: "U=", want: `1: public_url: is empty because the environment variable U is; `},
		{name: "another scheme", old: old, new: `public_url = "ftp://x.example"`, want: `1: public_url: is not an absolute http`},
		{name: "no host", old: old, new: `public_url = "https://"`, want: `1: public_url: is not an absolute http`},
		{name: "path", old: old, new: `public_url = "https://x.example/shop"`, want: `1: public_url: must not have a path`},
		{name: "query", old: old, new: `public_url = "https://x.example?a=1"`, want: `1: public_url: must be scheme and host only`},
		{name: "user", old: old, new: `public_url = "https://me:pw@x.example"`, want: `1: public_url: must be scheme and host only`},
		{name: "api_url", old: `mode = "live"`, new: "mode = \"live\"\napi_url = \"localhost:9\"", want: `6: environments.live.api_url: is not an absolute http`},
		{name: "alert url", old: "[files]", new: "[alerts]\nurl = \"hook\"\n[files]", want: `14: alerts.url: is not an absolute http`},
		{name: "alert url empty", old: "[files]", new: "[alerts]\nurl = \"\"\n[files]"},
		{name: "alert url in the open", old: "[files]", new: "[alerts]\nurl = \"http://hook.example\"\n[files]", want: `14: alerts.url: is not https`},
		{name: "alert url of this machine", old: "[files]", new: "[alerts]\nurl = \"http://127.0.0.1:9/hook\"\n[files]"},
		{name: "alert secret", old: "[files]", new: "[alerts]\nsecret = \"whsec_c2hvcnQ=\"\n[files]", want: `14: alerts.secret: is not whsec_ and the base64 of 16 bytes or more`},
		{name: "alert address", old: "[files]", new: "[alerts]\nemail = [\"a@b.example\", \"owner\"]\n[files]", want: `14: alerts.email[1]: is not an email address`},
	})
}

func TestSecretsThatWouldLoseASale(t *testing.T) {
	t.Parallel()
	const hook = `webhook_secrets = ["${STRIPE_LIVE_WEBHOOK_SECRET}"]`
	const at = `7: environments.live.webhook_secrets[0]: `
	runAll(t, []refusal{
		{name: "no link secret", old: `["${LINK_SECRET}"]`, new: `[]`, want: `2: link_secrets: is empty; `},
		{name: "empty link secret", old: `"${LINK_SECRET}"`, new: `""`, want: `2: link_secrets[0]: is empty; `},
		{name: "short link secret", env: "LINK_SECRET=0123456789012345678901234567890 ", want: `2: link_secrets[0]: is too short to be safe: 31 bytes`},
		{name: "repeated link secret", env: "LINK_SECRET=changemechangemechangemechangeme", want: `2: link_secrets[0]: repeats a few characters`},
		{name: "unset link secret", old: `${LINK_SECRET}`, new: `${LINK_SECRE}`, want: `2: link_secrets[0]: takes the environment variable LINK_SECRE, which is not set`},
		{name: "broken variable", old: `${LINK_SECRET}`, new: `${LINK SECRET}`, want: `2: link_secrets[0]: has a ${ that is no variable`},
		{name: "open variable", old: `${LINK_SECRET}`, new: `${LINK_SECRET`, want: `2: link_secrets[0]: has a ${ that is no variable`},
		{name: "live key in test mode", old: `mode = "live"`, new: `mode = "test"`, want: `6: environments.live.api_key: is a live key, but the environment's mode is "test"`},
		{name: "test key in live mode", env: "STRIPE_LIVE_KEY=rk_test_abcdef", want: `6: environments.live.api_key: is a test key, but the environment's mode is "live"`},
		{name: "publishable key", env: "STRIPE_LIVE_KEY=pk_live_abcdef", want: `6: environments.live.api_key: looks like a publishable key`},
		{name: "empty key", env: "STRIPE_LIVE_KEY=  ", want: `6: environments.live.api_key: is empty because the environment variable STRIPE_LIVE_KEY is; `},
		{name: "no webhook secret", old: hook, new: ``, want: `3: environments.live.webhook_secrets: is missing; `},
		{name: "empty webhook secret", env: "STRIPE_LIVE_WEBHOOK_SECRET=", want: at + `is empty because`},
		{name: "only spaces", env: "STRIPE_LIVE_WEBHOOK_SECRET= \n", want: at + `is empty because`},
		{name: "only the prefix", env: "STRIPE_LIVE_WEBHOOK_SECRET=whsec_", want: at + `is too short`},
		{name: "fifteen characters", env: "STRIPE_LIVE_WEBHOOK_SECRET=whsec_123456789012345", want: at + `is too short`},
		{name: "sixteen characters", env: "STRIPE_LIVE_WEBHOOK_SECRET=whsec_1234567890123456\n"},
		{name: "the endpoint's id", env: "STRIPE_LIVE_WEBHOOK_SECRET=we_1AbcDefGhi", want: at + `looks like the endpoint's id, not its signing secret`, also: "whsec_"},
		{name: "API key", env: "STRIPE_LIVE_WEBHOOK_SECRET=sk_live_zzzzzz", want: at + `looks like an API key, not its signing secret`},
		{name: "restricted key", env: "STRIPE_LIVE_WEBHOOK_SECRET=rk_live_zzzzzz", want: at + `looks like an API key, not its signing secret`},
		{name: "publishable key as secret", env: "STRIPE_LIVE_WEBHOOK_SECRET=pk_live_zzzzzz", want: at + `looks like a publishable key`},
		{name: "address", env: "STRIPE_LIVE_WEBHOOK_SECRET=https://x.example/hook", want: at + `looks like an address`},
		{name: "something else", env: "STRIPE_LIVE_WEBHOOK_SECRET=correct horse battery", want: at + `is not a Stripe signing secret`},
		{name: "account", old: `mode = "live"`, new: "mode = \"live\"\naccount = \"we_1\"", want: `6: environments.live.account: is not a Stripe account id`},
		{name: "a list is wanted", old: hook, new: `webhook_secrets = "${STRIPE_LIVE_WEBHOOK_SECRET}"`, want: `7: environments.live.webhook_secrets: must be a list of texts`},
	})
}

func TestACreemEnvironmentTakesItsOwnKeyAndAnySecret(t *testing.T) {
	t.Parallel()
	const stripe, creem = "provider = \"stripe\"\nmode = \"live\"\napi_key = \"${STRIPE_LIVE_KEY}\"", "provider = \"creem\"\nmode = \"live\"\napi_key = \"${CREEM_KEY}\""
	const at, key = `7: environments.live.webhook_secrets[0]: `, `6: environments.live.api_key: `
	testMode := strings.Replace(creem, "live", "test", 1)
	runAll(t, []refusal{
		{name: "any text", old: stripe, new: creem, env: "STRIPE_LIVE_WEBHOOK_SECRET=abcdefghijklmnop"},
		{name: "short", old: stripe, new: creem, env: "STRIPE_LIVE_WEBHOOK_SECRET=abcdefghijklmno", want: at + `is too short`},
		{name: "prefix alone", old: stripe, new: creem, env: "STRIPE_LIVE_WEBHOOK_SECRET=whsec_", want: at + `is too short`},
		{name: "address", old: stripe, new: creem, env: "STRIPE_LIVE_WEBHOOK_SECRET=https://x.example", want: at + `looks like an address`},
		{name: "the API key", old: stripe, new: creem, env: "STRIPE_LIVE_WEBHOOK_SECRET=creem_abcdefgh", want: at + `looks like an API key`},
		{name: "live key", old: stripe, new: creem, env: "CREEM_KEY=creem_123"},
		{name: "test key", old: stripe, new: testMode, env: "CREEM_KEY=creem_test_123"},
		{name: "test key in live mode", old: stripe, new: creem, env: "CREEM_KEY=creem_test_123", want: key + `is a test key, but the environment's mode is "live"`},
		{name: "live key in test mode", old: stripe, new: testMode, env: "CREEM_KEY=creem_123", want: key + `is a live key, but the environment's mode is "test"`},
		{name: "account", old: stripe, new: creem + "\naccount = \"acct_1\"", want: `7: environments.live.account: is Stripe's`},
		{name: "another provider's key", old: stripe, new: creem, env: "CREEM_KEY=sk_live_123", want: key + `is not a Creem API key`},
	})
}

func TestEnvironments(t *testing.T) {
	t.Parallel()
	const old = `[environments.live]`
	runAll(t, []refusal{
		{name: "name with dashes", old: old, new: `[environments.live-eu-2]`},
		{name: "capital letter", old: old, new: `[environments.Live]`, want: `3: environments.Live: has a name that cannot stand in an address`},
		{name: "dot in quotes", old: old, new: `[environments."a.b"]`, want: `3: environments."a.b": has a name`},
		{name: "too long", old: old, new: `[environments.` + strings.Repeat("a", 33) + `]`, want: `3: environments.` + strings.Repeat("a", 33) + `: has a name`},
		{name: "unknown provider", old: `provider = "stripe"`, new: `provider = "paypal"`, want: `4: environments.live.provider: "paypal" is not known; write one of: creem, stripe`},
		{name: "a secret as provider", old: `provider = "stripe"`, new: `provider = "${STRIPE_LIVE_KEY}"`, want: `4: environments.live.provider: the value of ${STRIPE_LIVE_KEY} is not known`},
		{name: "mode", old: `mode = "live"`, new: `mode = "production"`, want: `5: environments.live.mode: "production" is not known; write one of: live, test`},
		{name: "no mode", old: `mode = "live"`, new: ``, want: `3: environments.live.mode: is missing; write one of: live, test`},
		{name: "top-level setting too late", old: `mode = "live"`, new: "mode = \"live\"\npublic_url = \"https://x.example\"", want: `6: environments.live.public_url: is not a setting; remove or correct it (it belongs at the top`},
		{name: "unknown table", old: `[files]`, new: "[file]\nbucket = \"file:///x\"\n[files]", want: `13: file: is not a setting; remove or correct it (did you mean files?)`},
		{name: "nothing near", old: `[files]`, new: "[files]\nzzzzzzzz = 1", want: `14: files.zzzzzzzz: is not a setting; remove or correct it (known here: bucket)`},
	})
}

func TestNoEnvironmentAtAll(t *testing.T) {
	t.Parallel()
	start, end := strings.Index(smallest, "[environments"), strings.Index(smallest, "[email]")
	for name, instead := range map[string]string{
		" environments: is missing": "",
		"4: environments.provider: must be a table; a payment account's settings stand below [environments.NAME]": "[environments]\nprovider = \"stripe\"\n",
	} {
		path := write(t, smallest[:start]+instead+smallest[end:])
		_, err := config.Load(path, lookup(secrets()), known)
		if err == nil || !strings.HasPrefix(err.Error(), path+":"+name) {
			t.Errorf("got %v; want %q", err, name)
		}
	}
}

func TestEmailSettings(t *testing.T) {
	t.Parallel()
	const old = `from = "orders@example.com"`
	add := func(line string) string { return old + "\n" + line }
	runAll(t, []refusal{
		{name: "no webhook secrets", old: old, new: add(`webhook_secrets = []`)},
		{name: "good secret", old: old, new: add(`webhook_secrets = ["whsec_MTIzNDU2Nzg5MDEyMzQ1Ng=="]`)},
		{name: "padding missing", old: old, new: add(`webhook_secrets = ["whsec_MTIzNDU2Nzg5MDEyMzQ1Ng"]`)},
		{name: "15 bytes", old: old, new: add(`webhook_secrets = ["whsec_MTIzNDU2Nzg5MDEyMzQ1"]`), want: `12: email.webhook_secrets[0]: is too short to be a signing secret: 15 bytes`},
		{name: "prefix alone", old: old, new: add(`webhook_secrets = ["whsec_"]`), want: `12: email.webhook_secrets[0]: is too short`},
		{name: "empty", old: old, new: add(`webhook_secrets = [" "]`), want: `12: email.webhook_secrets[0]: is empty`},
		{name: "not base64", old: old, new: add(`webhook_secrets = ["whsec_not_base64!"]`), want: `12: email.webhook_secrets[0]: is damaged`},
		{name: "API key", old: old, new: add(`webhook_secrets = ["re_123456789"]`), want: `12: email.webhook_secrets[0]: looks like an API key`},
		{name: "no prefix", old: old, new: add(`webhook_secrets = ["MTIzNDU2Nzg5MDEyMzQ1Ng=="]`), want: `12: email.webhook_secrets[0]: is not a signing secret`},
		{name: "from missing", old: old, new: ``, want: `8: email.from: is missing; `},
		{name: "from is no address", old: old, new: `from = "Example Shop"`, want: `11: email.from: is not an email address`},
		{name: "from with a line end", old: old, new: `from = "Shop\n <orders@example.com>"`, want: `11: email.from: is not an email address`},
		{name: "reply_to", old: old, new: add(`reply_to = "help"`), want: `12: email.reply_to: is not an email address`},
		{name: "rate of zero", old: old, new: add(`rate_per_second = 0`), want: `12: email.rate_per_second: must be above 0`},
		{name: "rate is no number", old: old, new: add(`rate_per_second = nan`), want: `12: email.rate_per_second: must be above 0`},
		{name: "window longer than the provider keeps a key", old: old, new: add(`idempotency_window = "50h"`), want: `12: email.idempotency_window: is 50h0m0s, but Resend keeps an idempotency key for 24h0m0s only`},
		{name: "window of zero", old: old, new: add(`idempotency_window = "0s"`), want: `12: email.idempotency_window: must be longer`},
		{name: "provider", old: `provider = "resend"`, new: `provider = "Resend"`, want: `9: email.provider: "Resend" is not known; did you mean resend?`},
		{name: "signing secret as key", env: "RESEND_API_KEY=whsec_abcdefgh", want: `10: email.api_key: looks like an endpoint's signing secret`},
	})
}

func TestEmailStepMustEndInsideTheWindow(t *testing.T) {
	t.Parallel()
	const old = "[files]"
	runAll(t, []refusal{
		{name: "at the window's end", old: old, new: "[steps.email]\ngive_up_after = \"23h\"\n[files]"},
		{
			name: "above it", old: old, new: "[steps.email]\ngive_up_after = \"23h0m1s\"\n[files]",
			want: `14: steps.email.give_up_after: is 23h0m1s, but an email may be sent again only within 23h0m0s`,
		},
	})
	text := smallest + "idempotency_window = \"5h\"\n"
	path := write(t, text)
	_, err := config.Load(path, lookup(secrets()), known)
	want := path + ": steps.email.give_up_after: is 22h0m0s, but an email may be sent again only within 4h30m0s of its first attempt"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v; want %q", err, want)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	with := func(line string) string { return "[steps.access]\n" + line + "\n[files]" }
	runAll(t, []refusal{
		{name: "bounds", old: "[files]", new: with("attempts = 50\nfactor = 1\nfirst_wait = \"1ms\"\nlongest_wait = \"1ms\"\ncall_timeout = \"5m\"\ngive_up_after = \"5m\"")},
		{name: "no attempts", old: "[files]", new: with(`attempts = 0`), want: `14: steps.access.attempts: is 0; write 1 to 50`},
		{name: "too many attempts", old: "[files]", new: with(`attempts = 501`), want: `14: steps.access.attempts: is 501; write 1 to 500`},
		{name: "attempts as text", old: "[files]", new: with(`attempts = "8"`), want: `14: steps.access.attempts: must be a whole number without quotes, is text`},
		{name: "no wait", old: "[files]", new: with(`first_wait = "0s"`), want: `14: steps.access.first_wait: is 0s`},
		{name: "shrinking", old: "[files]", new: with(`factor = 0.9`), want: `14: steps.access.factor: is 0.9`},
		{name: "infinite", old: "[files]", new: with(`factor = inf`), want: `14: steps.access.factor: is +Inf`},
		{name: "longest below first", old: "[files]", new: with(`longest_wait = "9s"`), want: `14: steps.access.longest_wait: is 9s, shorter than first_wait (10s)`},
		{name: "short timeout", old: "[files]", new: with(`call_timeout = "999ms"`), want: `14: steps.access.call_timeout: is 999ms; write 1s to 5m0s`},
		{name: "long timeout", old: "[files]", new: with(`call_timeout = "301s"`), want: `14: steps.access.call_timeout: is 5m1s; write 1s to 5m0s`},
		{name: "gives up at once", old: "[files]", new: with(`give_up_after = "14s"`), want: `14: steps.access.give_up_after: is 14s, shorter than call_timeout (15s)`},
		{name: "days", old: "[files]", new: with(`give_up_after = "1d"`), want: `14: steps.access.give_up_after: is not a duration`, also: `a day is "24h"`},
		{name: "seconds as number", old: "[files]", new: with(`first_wait = 10`), want: `14: steps.access.first_wait: must be a duration in double quotes like "10s"`},
		{name: "unknown step", old: "[files]", new: "[steps.emails]\nattempts = 1\n[files]", want: `13: steps.emails: is not a setting; remove or correct it (did you mean email?)`},
		{name: "open_for", old: "[files]", new: "[orders]\nopen_for = \"0s\"\n[files]", want: `14: orders.open_for: must be longer`},
		{name: "await_payment_for", old: "[files]", new: "[orders]\nawait_payment_for = \"-1h\"\n[files]", want: `14: orders.await_payment_for: must be longer`},
		{name: "page_download_for", old: "[files]", new: "[orders]\npage_download_for = \"-1h\"\n[files]", want: `14: orders.page_download_for: must not be negative`},
		{name: "stuck_after", old: "[files]", new: "[orders]\nstuck_after = \"10ms\"\n[files]", want: `14: orders.stuck_after: is 10ms; write 1s or more`},
		{name: "attention_after", old: "[files]", new: "[orders]\nattention_after = \"20m\"\n[files]", want: `14: orders.attention_after: is 20m0s, shorter than stuck_after (30m0s)`},
	})
}

func TestProducts(t *testing.T) {
	t.Parallel()
	const access = `{ kind = "download", file = "guide.pdf" }`
	second := func(id, soldAs string) string {
		return `{ kind = "license" }]` + "\n[[products]]\nid = \"" + id + "\"\nname = \"B\"\nsold_as = [" + soldAs + "]\naccess = [{ kind = \"license\" }]"
	}
	const license = `{ kind = "license" }]`
	runAll(t, []refusal{
		{name: "second product", old: license, new: second("b", `"price_2"`)},
		{name: "id taken", old: license, new: second("guide", `"price_2"`), want: `21: products[1].id: "guide" is taken by the product in line 15`},
		{name: "price taken", old: license, new: second("b", `"price_2", "price_1"`), want: `23: products[1].sold_as[1]: "price_1" is already sold as the product in line 15`},
		{name: "price twice", old: `["price_1"]`, new: `["price_1", " price_1"]`, want: `18: products[0].sold_as[1]: "price_1" is already sold`},
		{name: "id", old: `id = "guide"`, new: `id = "Guide"`, want: `16: products[0].id: must be 1 to 64 lower-case letters`},
		{name: "long id", old: `id = "guide"`, new: `id = "` + strings.Repeat("a", 65) + `"`, want: `16: products[0].id: must be 1 to 64`},
		{name: "no id", old: `id = "guide"`, new: ``, want: `15: products[0].id: is missing`},
		{name: "no name", old: `name = "The Guide"`, new: `name = " "`, want: `17: products[0].name: is empty`},
		{name: "name on two lines", old: `name = "The Guide"`, new: `name = "The\nGuide"`, want: `17: products[0].name: has a line end`},
		{name: "sold as nothing", old: `["price_1"]`, new: `[]`, want: `18: products[0].sold_as: is empty`},
		{name: "sold as empty", old: `["price_1"]`, new: `[""]`, want: `18: products[0].sold_as[0]: is empty`},
		{name: "no access", old: `access = [` + access + `, ` + license, new: ``, want: `15: products[0].access: is missing`},
		{name: "unknown kind", old: `kind = "license"`, new: `kind = "licence"`, want: `19: products[0].access[1].kind: "licence" is not known; did you mean license?`},
		{name: "no kind", old: `kind = "license"`, new: ``, want: `19: products[0].access[1].kind: is missing`},
		{name: "no file", old: `, file = "guide.pdf"`, new: ``, want: `19: products[0].access[0].file: is missing; write the name of the file`},
		{name: "file above", old: `"guide.pdf"`, new: `"../guide.pdf"`, want: `19: products[0].access[0].file: must be a file's name`},
		{name: "file in between", old: `"guide.pdf"`, new: `"a/../guide.pdf"`, want: `19: products[0].access[0].file: must be a file's name`},
		{name: "file from the root", old: `"guide.pdf"`, new: `"/guide.pdf"`, want: `19: products[0].access[0].file: must be a file's name`},
		{name: "backslash", old: `"guide.pdf"`, new: `'..\guide.pdf'`, want: `19: products[0].access[0].file: must be a file's name`},
		{name: "two dots in a name", old: `"guide.pdf"`, new: `"guide..pdf"`},
		{name: "license with a file", old: `kind = "license"`, new: `kind = "license", file = "x"`, want: `19: products[0].access[1].file: is not for a license`},
		{name: "two files", old: access, new: access + `, { kind = "download", file = "b.pdf" }`},
		{name: "an id that is a place", old: access, new: strings.Replace(access, "{", `{ id = "1",`, 1), want: `19: products[0].access[0].id: is not a name`},
		{name: "an id twice", old: access, new: strings.Replace(access, "{", `{ id = "pdf",`, 1) + `, { id = "pdf", kind = "download", file = "map.pdf" }`, want: `19: products[0].access[1].id: is the id of another access`},
		{name: "the same file twice", old: access, new: access + ", " + access, want: `19: products[0].access[1]: is given twice`},
		{name: "unknown key", old: `file =`, new: `fiel = "x", file =`, want: `19: products[0].access[0].fiel: is not a setting; remove or correct it (did you mean file?)`},
		{name: "refund", old: `id = "guide"`, new: "id = \"guide\"\nrefund = \"keep\""},
		{name: "unknown refund", old: `id = "guide"`, new: "id = \"guide\"\nrefund = \"partial\"", want: `17: products[0].refund: "partial" is not known; write one of: full, item, keep`},
		{name: "unknown dispute", old: `id = "guide"`, new: "id = \"guide\"\ndispute = \"full\"", want: `17: products[0].dispute: "full" is not known`, also: "write one of: hold, keep"},
		{name: "access is no list", old: `[` + access + `, ` + license, new: `"download"`, want: `19: products[0].access: must be a list of tables, is text`},
	})
}

func TestBucket(t *testing.T) {
	t.Parallel()
	const old = `bucket = "file:///srv/files"`
	runAll(t, []refusal{
		{name: "s3", old: old, new: `bucket = "s3://shop?region=eu-west-1"`},
		{name: "gs", old: old, new: `bucket = "gs://shop"`},
		{name: "azblob", old: old, new: `bucket = "azblob://shop"`},
		{name: "missing", old: old, new: ``, want: `13: files.bucket: is missing; a product has a download`},
		{name: "memory", old: old, new: `bucket = "mem://"`, want: `14: files.bucket: is not a bucket that can be opened`},
		{name: "path", old: old, new: `bucket = "/srv/files"`, want: `14: files.bucket: is not a bucket that can be opened`},
		{name: "two slashes", old: old, new: `bucket = "file://srv/files"`, want: `14: files.bucket: must name a folder by its whole path`},
		{name: "no bucket", old: old, new: `bucket = "s3:///x"`, want: `14: files.bucket: does not name a bucket`},
		{name: "not needed", old: "[files]\n" + old, new: ``, want: ` files.bucket: is missing; a product has a download`},
	})
	if _, err := config.Load(write(t, smallest), lookup(secrets()), known); err != nil {
		t.Errorf("without a download no bucket is needed: %v", err)
	}
}
