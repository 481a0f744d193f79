package web

import "net/http"

// routes is the whole public surface. GET patterns answer HEAD too; what matches none of them is answered by unrouted.
func (s *server) routes(origin string) (*http.ServeMux, error) {
	sameOrigin := http.NewCrossOriginProtection()
	if err := sameOrigin.AddTrustedOrigin(origin); err != nil {
		return nil, err
	}
	sameOrigin.SetDenyHandler(http.HandlerFunc(s.crossOrigin))

	mux := http.NewServeMux()
	mux.HandleFunc("/webhooks/payments/{environment}", s.paymentWebhook) // any method: it answers 405 itself
	mux.HandleFunc("/webhooks/email", s.emailWebhook)

	mux.HandleFunc("GET /orders/{environment}/{session}", s.orderPage)
	mux.HandleFunc("GET /orders/{environment}/{session}/downloads/{grant}", s.orderDownload)
	mux.Handle("POST /orders/{environment}/{session}/resend", sameOrigin.Handler(http.HandlerFunc(s.resend)))

	mux.HandleFunc("GET /d/{token}", s.linkPage)
	mux.HandleFunc("GET /d/{token}/{grant}", s.linkDownload)

	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("GET /favicon.ico", s.favicon)
	mux.HandleFunc("GET /robots.txt", s.robots)
	return mux, nil
}
