package order

// Assessment is what a retrieved session means for its order, checked against the environment and the catalogue.
type Assessment struct {
	Key          Key
	State        PaymentState
	Processing   bool
	ToPay        bool // the buyer has a voucher, or the data of a transfer, and has not paid it yet
	Ref          string
	Total        Money
	Email        string
	Name         string
	Items        []Item
	Parts        []int64       // shipping, tax and discounts in Total, in minor units
	Entitlements []Entitlement // what is owed when State is confirmed; none while a person has to decide
	Reason       Reason
	Class        Class
	Event        string // the event that made us look; empty when it was none
	Reversed     bool   // the provider says that there was a refund or a dispute
}
