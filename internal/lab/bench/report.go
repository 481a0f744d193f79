package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report is everything that was measured.
type report struct {
	settings    settings
	began       time.Time
	rounds      []round
	answers     answers
	history     counted
	workerBytes int64
	openOrders  int

	backgroundPerSecond float64 // commits of the ledger's database without any order
	ledgerCommits       float64 // an order, the background taken off
	wholePages          float64 // an order
}

func (r *report) background(from, to commits) {
	r.backgroundPerSecond = float64(to.n-from.n) / to.at.Sub(from.at).Seconds()
}

func (r *report) commits(from, to commits, orders int) {
	background := r.backgroundPerSecond * to.at.Sub(from.at).Seconds()
	r.ledgerCommits = (float64(to.n-from.n) - background) / float64(orders)
	r.wholePages = float64(to.pages-from.pages) / float64(orders)
}

// pair is one thing measured of both, as medians over the rounds; the ratio is the median of the rounds' own ratios,
// because the two blocks of a round meet the same machine.
type pair struct {
	Order float64 `json:"order"`
	Bare  float64 `json:"bare"`
	Ratio float64 `json:"ratio"`
}

// figures is the report as JSON.
type figures struct {
	Orders     int                `json:"orders"`
	Rounds     int                `json:"rounds"`
	InFlight   int                `json:"in_flight"`
	Throughput pair               `json:"throughput_per_second"`
	P50        pair               `json:"paid_to_accepted_p50_ms"`
	P99        pair               `json:"paid_to_accepted_p99_ms"`
	CPU        map[string]float64 `json:"cpu_ms_per_order"` // of each process, of bare, and above_bare
	Webhook    webhookFigures     `json:"webhook_answer"`
	Postgres   postgresFigures    `json:"postgres_per_order"`
	Events     int64              `json:"history_events_when_delivered"`
	Billable   int                `json:"billable_actions"`
	Worker     workerFigures      `json:"worker"`
	Seconds    float64            `json:"seconds"`
}

type webhookFigures struct {
	Calls        int     `json:"calls"`
	AtOnce       int     `json:"at_once"`
	P50          float64 `json:"p50_ms"`
	P99          float64 `json:"p99_ms"`
	ReferenceP50 float64 `json:"commit_and_start_p50_ms"`
	ReferenceP99 float64 `json:"commit_and_start_p99_ms"`
	RatioP50     float64 `json:"ratio_p50"`
	RatioP99     float64 `json:"ratio_p99"`
	LoadedP99    float64 `json:"p99_ms_with_orders_in_flight"`
}

type postgresFigures struct {
	Commits       float64 `json:"commits"`
	Transactions  float64 `json:"writing_transactions"`
	Background    float64 `json:"background_commits_per_second"`
	WAL           float64 `json:"wal_bytes"`
	WALOfPages    float64 `json:"wal_bytes_of_whole_pages"`
	WholePages    float64 `json:"whole_pages"`
	WALWithoutAny float64 `json:"wal_bytes_without_whole_pages"`
}

type workerFigures struct {
	RSS        float64 `json:"rss_mb"`
	OpenOrders int     `json:"open_orders"`
}

func (r *report) figures() figures {
	f := figures{
		Orders: r.settings.orders, Rounds: r.settings.rounds, InFlight: r.settings.inFlight,
		Throughput: r.pair(block.perSecond),
		P50:        r.pair(func(b block) float64 { return milliseconds(quantile(b.Latencies, 0.5)) }),
		P99:        r.pair(func(b block) float64 { return milliseconds(quantile(b.Latencies, 0.99)) }),
		CPU:        r.cpu(),
		Webhook:    r.webhook(),
		Events:     quantile(r.history.events, 1),
		Billable:   r.history.billable,
		Worker:     workerFigures{RSS: rounded(float64(r.workerBytes) / (1 << 20)), OpenOrders: r.openOrders},
		Seconds:    rounded(time.Since(r.began).Seconds()),
	}
	var sum written
	for _, one := range r.rounds {
		sum.add(one.written)
	}
	orders := float64(r.settings.orders * r.settings.rounds)
	f.Postgres = postgresFigures{
		Commits: rounded(r.ledgerCommits), Transactions: rounded(float64(sum.transactions) / orders),
		Background: rounded(r.backgroundPerSecond), WholePages: rounded(r.wholePages),
		WAL: rounded(float64(sum.bytes) / orders), WALOfPages: rounded(float64(sum.pages) / orders),
		WALWithoutAny: rounded(float64(sum.bytes-sum.pages) / orders),
	}
	return f
}

func (r *report) pair(of func(block) float64) pair {
	var order, bare, ratio []float64
	for _, one := range r.rounds {
		o, b := of(one.order), of(one.bare)
		order, bare, ratio = append(order, o), append(bare, b), append(ratio, o/b)
	}
	return pair{Order: rounded(median(order)), Bare: rounded(median(bare)), Ratio: rounded(median(ratio))}
}

// cpu is processor time in milliseconds an order, medians over the rounds.
func (r *report) cpu() map[string]float64 {
	per := func(d time.Duration) float64 { return milliseconds(d) / float64(r.settings.orders) }
	samples := map[string][]float64{}
	for _, one := range r.rounds {
		ours := 0.0
		for name, d := range one.cpu {
			samples[name] = append(samples[name], per(d))
			if name == "starter" || name == "worker" || name == "postgres" {
				ours += per(d)
			}
		}
		samples["bare"] = append(samples["bare"], per(one.bare.CPU))
		if len(one.cpu) > 0 {
			samples["above_bare"] = append(samples["above_bare"], ours-per(one.bare.CPU))
		}
	}
	f := map[string]float64{}
	for name, values := range samples {
		f[name] = rounded(median(values))
	}
	return f
}

func (r *report) webhook() webhookFigures {
	var loaded []time.Duration
	for _, one := range r.rounds {
		loaded = append(loaded, one.order.Answers...)
	}
	at := func(values []time.Duration, q float64) float64 { return milliseconds(quantile(values, q)) }
	a := r.answers
	return webhookFigures{
		Calls: len(a.webhook), AtOnce: r.settings.callers,
		P50: rounded(at(a.webhook, 0.5)), P99: rounded(at(a.webhook, 0.99)),
		ReferenceP50: rounded(at(a.reference, 0.5)), ReferenceP99: rounded(at(a.reference, 0.99)),
		RatioP50:  rounded(at(a.webhook, 0.5) / at(a.reference, 0.5)),
		RatioP99:  rounded(at(a.webhook, 0.99) / at(a.reference, 0.99)),
		LoadedP99: rounded(at(loaded, 0.99)),
	}
}

// MarshalJSON gives the figures.
func (r *report) MarshalJSON() ([]byte, error) { return json.Marshal(r.figures()) }

// print writes the figures for people.
func (r *report) print(w io.Writer) error {
	f := r.figures()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(columns ...any) {
		for _, c := range columns {
			fmt.Fprintf(t, "%v\t", c)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(w, "%d rounds of %d orders and %d bare workflows of three empty activities, %d in flight; medians\n\n",
		f.Rounds, f.Orders, f.Orders, f.InFlight)
	line("", "order", "bare", "ratio")
	line("throughput, a second", f.Throughput.Order, f.Throughput.Bare, f.Throughput.Ratio)
	line("paid to accepted, p50 ms", f.P50.Order, f.P50.Bare, f.P50.Ratio)
	line("paid to accepted, p99 ms", f.P99.Order, f.P99.Bare, f.P99.Ratio)
	line()
	line("webhook answer", "answer", "commit + start", "ratio")
	line(fmt.Sprintf("p50 ms of %d, %d at once", f.Webhook.Calls, f.Webhook.AtOnce), f.Webhook.P50, f.Webhook.ReferenceP50, f.Webhook.RatioP50)
	line("p99 ms", f.Webhook.P99, f.Webhook.ReferenceP99, f.Webhook.RatioP99)
	line()
	line("an order")
	line("CPU above bare, ms", f.CPU["above_bare"])
	for _, name := range []string{"starter", "worker", "postgres", "bare", "temporal", "sandbox"} {
		if ms, found := f.CPU[name]; found {
			line("  "+name, ms)
		}
	}
	line("Postgres commits", f.Postgres.Commits, fmt.Sprintf("%v write; %v a second without orders taken off", f.Postgres.Transactions, f.Postgres.Background))
	line("WAL, bytes", f.Postgres.WALWithoutAny, fmt.Sprintf("%v with whole pages after a checkpoint", f.Postgres.WAL))
	line("history events, delivered", f.Events)
	line("billable actions", f.Billable)
	line("worker memory, MB", f.Worker.RSS, fmt.Sprintf("%d open orders", f.Worker.OpenOrders))
	return t.Flush()
}
