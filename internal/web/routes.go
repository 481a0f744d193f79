package web

import (
	"net/http"

	"handover/internal/web/pages"
	"handover/internal/web/webhook"
)

// routes is the whole public surface. GET patterns answer HEAD too; what matches none of them is answered by unrouted.
func routes(webhooks *webhook.Handlers, site *pages.Site, origin string) (*http.ServeMux, error) {
	sameOrigin := http.NewCrossOriginProtection()
	if err := sameOrigin.AddTrustedOrigin(origin); err != nil {
		return nil, err
	}
	sameOrigin.SetDenyHandler(http.HandlerFunc(site.CrossOrigin))

	mux := http.NewServeMux()
	mux.HandleFunc("/webhooks/payments/{environment}", webhooks.Payment) // any method: it answers 405 itself
	mux.HandleFunc("/webhooks/email", webhooks.Email)

	mux.HandleFunc("GET /orders/{environment}/{session}", site.OrderPage)
	mux.HandleFunc("GET /orders/{environment}/{session}/downloads/{grant}", site.OrderDownload)
	mux.Handle("POST /orders/{environment}/{session}/resend", sameOrigin.Handler(http.HandlerFunc(site.Resend)))

	mux.HandleFunc("GET /d/{token}", site.LinkPage)
	mux.HandleFunc("GET /d/{token}/{grant}", site.LinkDownload)

	mux.HandleFunc("GET /{$}", site.Home)
	mux.HandleFunc("GET /assets/{name}", site.Asset)
	mux.HandleFunc("GET /favicon.ico", site.Favicon)
	mux.HandleFunc("GET /robots.txt", site.Robots)
	return mux, nil
}
