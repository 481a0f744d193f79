package cli

// manual is what the help of a command says beside its arguments and flags.
type manual struct {
	examples []string
	details  string
}

// manuals are by command; the one without a name is the overview's.
var manuals = map[string]manual{
	"": {
		examples: []string{
			"list --attention",
			"status live/cs_live_a1b2",
			`resend live/cs_live_a1b2 --reason "mistyped" --to alex@example.net`,
			"check",
		},
		details: "ORDER is the reference that the buyer sees, for example HO-7K3M9QXT, or ENVIRONMENT/SESSION, for example live/cs_live_a1b2; flags may stand before or after it. Every command but serve " +
			"takes --json. Run starter COMMAND --help for a command's flags. " +
			"Exit codes: 0 done or dispatched, 1 failed, 2 usage, 3 not found.",
	},
	"serve": {
		examples: []string{"serve"},
		details: "It reads handover.toml (HANDOVER_CONFIG), DATABASE_URL, LISTEN_ADDR, ADMIN_ADDR, TASK_QUEUE and TEMPORAL_*. Postgres and " +
			"Temporal may be away when it starts.",
	},
	"status": {examples: []string{"status live/cs_live_a1b2", "status live/cs_live_a1b2 --json"}},
	"list": {
		examples: []string{"list --attention", "list --email alex@example.net", "list --unreached --json"},
		details:  "Without a filter, the newest orders. Choose one filter.",
	},
	"resend": {
		examples: []string{
			`resend live/cs_live_a1b2 --reason "not in the inbox"`,
			`resend live/cs_live_a1b2 --reason "mistyped" --to alex@example.net`,
			"resend --unreached --since 2d --dry-run",
		},
		details: "A new generation has a key of its own, so this is a second email. Links that were sent keep working.",
	},
	"retry": {
		examples: []string{`retry live/cs_live_a1b2 --reason "the provider is back"`, `retry --misconfigured --reason "new API key"`,
			`retry --reason-is payment_not_retrievable --since 12h --dry-run`},
		details: "It also starts a run that was lost.",
	},
	"revoke": {
		examples: []string{`revoke live/cs_live_a1b2 --reason "chargeback by telephone"`},
		details:  "Pages, downloads and the licence API refuse at once. No email is sent.",
	},
	"restore": {
		examples: []string{`restore live/cs_live_a1b2 --reason "paid again"`},
		details:  "The buyer has the same licence keys and the same link as before.",
	},
	"relink": {
		examples: []string{`relink live/cs_live_a1b2 --reason "the link was published"`},
		details:  "For an email that went to the wrong address, or a link that was published.",
	},
	"replay": {examples: []string{"replay live/cs_live_a1b2", "replay --ignored", "replay --product field-guide --catalogue --dry-run"}},
	"reconcile": {
		examples: []string{"reconcile --since 72h --dry-run", "reconcile"},
		details: "Without --since, a run begins at the high-water mark. --since may reach before Handover served the environment: then what " +
			"another program has delivered is delivered again. Check first with --dry-run.",
	},
	"check": {
		examples: []string{"check", "check --json"},
		details:  "Keys, webhooks, prices, files, database and Temporal. It only reads. Exit code 1 means that a sale would be lost.",
	},
	"erase": {
		examples: []string{`erase live/cs_live_a1b2 --reason "asked by the buyer"`},
		details:  "What was bought, the licence keys, the link and the audit stay. The providers and your backups keep records of their own.",
	},
	"migrate": {examples: []string{"migrate"}, details: "serve and the worker also do it when they start."},
}
