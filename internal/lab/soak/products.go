package soak

// product is something the soak's shop sells, with what the seller has decided about refunds and disputes.
type product struct {
	id      string // ours
	price   string // the payment provider's; empty where it is sold by its product id
	sold    string // the provider's product id
	amount  int64  // of one unit, minor units
	file    string // what can be downloaded; empty for nothing
	license bool
	item    bool // a partial refund ends what it was for
	keep    bool // neither a refund nor a dispute ends anything
}

// The products. The first two are in the configuration of every crash test's shop; "stranger" is nobody's.
var products = map[string]product{
	"guide":    {id: "guide", price: "price_guide", sold: "prod_guide", amount: 1900, file: "guide.pdf", license: true},
	"birds":    {id: "birds", sold: "prod_birds", price: "price_birds", amount: 700, file: "Vögel.pdf"},
	"set":      {id: "set", price: "price_set", sold: "prod_set", amount: 4100, file: "guide.pdf", license: true, item: true},
	"gift":     {id: "gift", price: "price_gift", sold: "prod_gift", amount: 300, license: true, keep: true},
	"stranger": {price: "price_stranger", sold: "prod_stranger", amount: 500},
}

// settings are short, so that an order that meets many faults still ends within a minute or two, and the attempts are
// enough for what the plan does to an order that is to be delivered. The email's are fewer: one kind of order uses them up.
const settings = `
[steps.payment]
attempts     = 40
first_wait   = "300ms"
factor       = 2
longest_wait = "5s"
call_timeout = "2s"
[steps.access]
attempts     = 40
first_wait   = "300ms"
factor       = 2
longest_wait = "5s"
call_timeout = "2s"
[steps.revoke]
attempts     = 40
first_wait   = "300ms"
factor       = 2
longest_wait = "5s"
call_timeout = "2s"
[steps.email]
attempts     = 20
first_wait   = "300ms"
factor       = 2
longest_wait = "5s"
call_timeout = "2s"

[[products]]
id      = "set"
name    = "The Set"
sold_as = ["price_set"]
access  = [ { kind = "download", file = "guide.pdf" }, { kind = "license" } ]
refund  = "item"

[[products]]
id      = "gift"
name    = "The Gift"
sold_as = ["price_gift"]
access  = [ { kind = "license" } ]
refund  = "keep"
dispute = "keep"
`

// emailAttempts is the cap of the settings above.
const emailAttempts = 20

// unit is one piece of access that can be given: a download once, a licence once for each unit.
type unit struct {
	Product string `json:"product"`
	Kind    string `json:"kind"`
	File    string `json:"file,omitempty"`
	N       int64  `json:"n"`
}

// Line is one line of a checkout session.
type Line struct {
	Product  string `json:"product"`
	Quantity int64  `json:"quantity"`
}

// boughtUnits lists what the lines buy.
func boughtUnits(lines []Line) []unit {
	var units []unit
	for _, line := range lines {
		w := products[line.Product]
		if w.file != "" {
			units = append(units, unit{w.id, "download", w.file, 1})
		}
		for n := int64(1); w.license && n <= line.Quantity; n++ {
			units = append(units, unit{w.id, "license", "", n})
		}
	}
	return units
}

// total is what the lines cost.
func total(lines []Line) (sum int64) {
	for _, line := range lines {
		sum += products[line.Product].amount * line.Quantity
	}
	return sum
}

// strangers counts the lines that are not ours.
func strangers(lines []Line) (n int) {
	for _, line := range lines {
		if line.Product == "stranger" {
			n++
		}
	}
	return n
}
