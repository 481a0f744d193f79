package soak

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is what a run came to.
type Report struct {
	Seed       uint64         `json:"seed"`
	Orders     int            `json:"orders"`
	Sales      map[string]int `json:"sales"`
	Ends       map[string]int `json:"ends"`
	Kills      map[string]int `json:"kills_and_freezes"`
	Faults     map[string]int `json:"faults_that_caught"` // requests, by kind
	Webhooks   Webhooks       `json:"webhooks"`
	Emails     Emails         `json:"emails"`
	Reads      int            `json:"payment_provider_reads"`
	Operators  map[string]int `json:"operators"`
	Seconds    Seconds        `json:"seconds"`
	Found      map[string]int `json:"verdict"` // violations by kind
	Violations []Violation    `json:"violations"`
	Problems   []string       `json:"problems_of_the_soak,omitempty"`
	Logs       string         `json:"logs"`
}

// Webhooks counts events.
type Webhooks struct {
	Events   int `json:"events"`
	Sent     int `json:"first_deliveries"` // copies included
	Taken    int `json:"answered_2xx"`
	Refused  int `json:"not_answered_2xx"` // and sent again, but for those to the second starter
	Repeated int `json:"repeated"`         // taken once more, though taken before
}

// Emails counts messages.
type Emails struct {
	Accepted    int `json:"accepted"`
	Calls       int `json:"calls"`
	Keys        int `json:"keys"`
	CalledAgain int `json:"keys_called_again"`
}

// Seconds are the times of a run.
type Seconds struct {
	Played  float64 `json:"played"`
	Settled float64 `json:"settled_after"`
	All     float64 `json:"all"`
}

func newReport(r *run, all []Facts, found []Violation, settled time.Duration) *Report {
	p := &Report{
		Seed: r.o.Seed, Orders: len(all), Logs: r.o.Dir, Violations: append([]Violation{}, found...), Kills: r.hurt,
		Sales: map[string]int{}, Ends: map[string]int{}, Faults: map[string]int{}, Operators: map[string]int{}, Found: map[string]int{},
	}
	for _, kind := range Kinds {
		p.Found[kind] = 0
	}
	for _, v := range found {
		p.Found[v.Kind]++
	}
	for _, f := range all {
		p.count(f)
	}
	counts := r.shop.Sandbox.Counts()
	p.Webhooks.Taken, p.Webhooks.Refused = counts.Webhooks.Taken, counts.Webhooks.Refused
	p.Webhooks.Repeated = max(0, p.Webhooks.Taken-p.Webhooks.Events)
	for _, n := range counts.Stripe.Retrieves {
		p.Reads += n
	}
	for _, n := range counts.Stripe.Reads {
		p.Reads += n
	}
	p.Reads += counts.Stripe.Lists
	p.Emails.Accepted = counts.Emails.Accepted
	for _, k := range counts.Emails.ByKey {
		p.Emails.Keys++
		p.Emails.Calls += k.Calls
		if k.Calls > 1 {
			p.Emails.CalledAgain++
		}
	}
	seconds := func(d time.Duration) float64 { return float64(d.Round(100*time.Millisecond)) / float64(time.Second) }
	p.Seconds = Seconds{Settled: seconds(settled), All: seconds(time.Since(r.began))}
	p.Seconds.Played = seconds(time.Since(r.began) - settled - quietAfter)
	return p
}

func (p *Report) count(f Facts) {
	p.Sales[string(f.Order.Sale)]++
	p.Ends[end(f)]++
	p.Webhooks.Events += f.Distinct
	p.Webhooks.Sent += f.Sent
	p.Operators["signals"] += f.Signals
	p.Operators["signals that Temporal did not take"] += f.Refused
	for code, n := range f.Commands {
		p.Operators[fmt.Sprintf("commands with exit code %d", code)] += n
	}
	for i, fault := range f.Order.Faults {
		if i < len(f.Fired) && f.Fired[i] > 0 {
			p.Faults[kindOf(fault)] += f.Fired[i]
		}
	}
	for _, problem := range f.Problems {
		p.Problems = append(p.Problems, f.key()+": "+problem)
	}
}

func kindOf(f Fault) string {
	words := []string{f.Target, f.Mode}
	if f.Status != 0 {
		words = append(words, fmt.Sprint(f.Status))
	}
	return strings.Join(words, " ")
}

// end says in a few words what became of an order.
func end(f Facts) string {
	switch {
	case !f.Known:
		return "unknown to the ledger"
	case f.View.Reason != "":
		return "needs attention: " + string(f.View.Reason)
	}
	return string(f.View.Facts.CustomerState())
}

// Print writes the report for people.
func (p *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "soak\tseed %d, %d orders, played in %.0f s, settled after %.1f s more\n", p.Seed, p.Orders, p.Seconds.Played, p.Seconds.Settled)
	for _, group := range []struct {
		name   string
		counts map[string]int
	}{{"sold", p.Sales}, {"came to", p.Ends}, {"killed, frozen", p.Kills}, {"provider faults", p.Faults}, {"operators", p.Operators}} {
		for i, name := range slices.SortedFunc(maps.Keys(group.counts), func(a, b string) int {
			return cmp.Or(group.counts[b]-group.counts[a], strings.Compare(a, b))
		}) {
			title := ""
			if i == 0 {
				title = group.name
			}
			fmt.Fprintf(t, "%s\t%d\t%s\n", title, group.counts[name], name)
		}
	}
	fmt.Fprintf(t, "webhooks\t%d\tevents, %d deliveries of them; answered 2xx %d times (%d of these repetitions), otherwise %d times\n",
		p.Webhooks.Events, p.Webhooks.Sent, p.Webhooks.Taken, p.Webhooks.Repeated, p.Webhooks.Refused)
	fmt.Fprintf(t, "provider calls\t%d\treads of the payment provider\n", p.Reads)
	fmt.Fprintf(t, "\t%d\tcalls to send, under %d keys, %d of them more than once\n", p.Emails.Calls, p.Emails.Keys, p.Emails.CalledAgain)
	fmt.Fprintf(t, "\t%d\tmessages accepted\n", p.Emails.Accepted)
	for i, kind := range Kinds {
		title := ""
		if i == 0 {
			title = "violations"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\n", title, p.Found[kind], kind)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "the soak itself: %s\n", problem)
	}
	for _, v := range p.Violations {
		fmt.Fprintf(w, "VIOLATION %s: %s: %s\n", v.Kind, v.Order, v.What)
	}
	if len(p.Violations) > 0 {
		fmt.Fprintf(w, "seed %d; logs, and the evidence of each order, are in %s\n", p.Seed, p.Logs)
	}
	return nil
}
