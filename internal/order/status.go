package order

import "time"

// StatusJSON is an order as JSON, for the buyer's page and the operator's commands alike.
type StatusJSON struct {
	Order         string         `json:"order"`
	Reference     Reference      `json:"reference,omitempty"` // empty for an order that nobody has reported
	Found         string         `json:"found,omitempty"`     // page or reconcile, where the webhook was missed
	Payment       PaymentJSON    `json:"payment"`
	Access        AccessJSON     `json:"access"`
	Email         EmailJSON      `json:"email"`
	CustomerState CustomerState  `json:"customer_state"`
	OpenedAt      *time.Time     `json:"opened_at,omitempty"`     // the page behind the emailed link, for a while
	DownloadedAt  *time.Time     `json:"downloaded_at,omitempty"` // a file was asked for first
	Downloads     []DownloadJSON `json:"downloads,omitempty"`     // only where the page offers them
	Licenses      []LicenseJSON  `json:"licenses,omitempty"`      // only where the page offers them
}

// PaymentJSON is the first fact.
type PaymentJSON struct {
	State PaymentState `json:"state"`
}

// AccessJSON is the second fact.
type AccessJSON struct {
	State AccessState `json:"state"`
}

// EmailJSON is the third fact, with the evidence beside it.
type EmailJSON struct {
	State    EmailState `json:"state"`
	Delivery Delivery   `json:"delivery"` // empty until there is some
}

// DownloadJSON is a file that can be fetched now.
type DownloadJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"` // relative to the page
}

// LicenseJSON is a licence key.
type LicenseJSON struct {
	Product string `json:"product"` // its name
	Key     string `json:"key"`
}

// Status is what anybody may know of an order: the three facts and nothing of the buyer.
func Status(v View) StatusJSON {
	return StatusJSON{
		Order:         v.Key.String(),
		Reference:     v.Reference,
		Found:         v.Found,
		Payment:       PaymentJSON{v.Facts.Payment},
		Access:        AccessJSON{v.Facts.Access},
		Email:         EmailJSON{v.Facts.Email, v.Facts.Delivery},
		CustomerState: v.Facts.CustomerState(),
		OpenedAt:      v.OpenedAt,
		DownloadedAt:  v.DownloadedAt,
	}
}
