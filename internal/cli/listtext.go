package cli

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"handover/internal/order"
	"handover/internal/text"
)

// listedOrder is one order in the JSON of a list.
type listedOrder struct {
	order.StatusJSON
	AgeSeconds     int64        `json:"age_seconds"`     // of the order
	WaitingSeconds int64        `json:"waiting_seconds"` // how long it has needed a person; 0 when it does not
	Reason         order.Reason `json:"reason"`
	Step           string       `json:"step"` // that stopped: payment, access, email, …
	Next           string       `json:"next"`
}

// listed is the JSON of a list.
func listed(views []order.View, now time.Time) []listedOrder {
	list := make([]listedOrder, 0, len(views))
	for _, v := range views {
		l := listedOrder{StatusJSON: order.Status(v), AgeSeconds: seconds(v.CreatedAt, now), Reason: v.Reason, Step: string(v.Reason.Step()), Next: v.Reason.Remedy(v.Key.String())}
		if v.AttentionAt != nil {
			l.WaitingSeconds = seconds(*v.AttentionAt, now)
		}
		list = append(list, l)
	}
	return list
}

func seconds(since, now time.Time) int64 { return int64(now.Sub(since).Seconds()) }

// printList writes one line for each order, and below them the remedies. A fault in the settings is written once, however
// many orders it holds back.
func printList(w io.Writer, views []order.View, now time.Time) {
	if len(views) == 0 {
		fmt.Fprintln(w, "No orders.")
		return
	}
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ORDER\tAGE\tAMOUNT\tPAYMENT\tACCESS\tEMAIL")
	for _, v := range views {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Key, text.Age(now.Sub(v.CreatedAt)), v.Total, v.Facts.Payment, v.Facts.Access, emailWord(v.Facts))
	}
	t.Flush()
	groups, needed := byFault(views)
	for _, g := range groups {
		fmt.Fprintln(w)
		for _, v := range g {
			fmt.Fprintln(w, v.Key)
		}
		printAttention(w, longest(g), now)
	}
	if len(groups) > 1 {
		fmt.Fprintf(w, "\nIn all, %s to decide.\n", text.Count(needed, "order"))
	}
}

// byFault groups the orders that one remedy helps, in their sequence, and counts them.
func byFault(views []order.View) (groups [][]order.View, orders int) {
	at := map[order.Reason]int{}
	for _, v := range views {
		if v.Reason == "" {
			continue
		}
		orders++
		i, seen := at[v.Reason]
		if seen && v.Reason.Settings() {
			groups[i] = append(groups[i], v)
			continue
		}
		at[v.Reason] = len(groups)
		groups = append(groups, []order.View{v})
	}
	return groups, orders
}

// longest is the order that has waited longest.
func longest(views []order.View) order.View {
	first := views[0]
	for _, v := range views {
		if since(v).Before(since(first)) {
			first = v
		}
	}
	return first
}
