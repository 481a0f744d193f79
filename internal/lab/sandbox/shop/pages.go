package shop

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"handover/internal/order"
)

//go:embed templates/*.html
var templateFiles embed.FS

var pages = map[string]*template.Template{
	"shop":    parsePage("shop"),
	"inbox":   parsePage("inbox"),
	"message": parsePage("message"),
}

func parsePage(name string) *template.Template {
	return template.Must(template.New("layout.html").
		Funcs(template.FuncMap{
			"money": func(minor int64, currency string) string {
				return order.Money{Minor: minor, Currency: currency}.String()
			},
			"join": func(list []string) string { return strings.Join(list, ", ") },
		}).
		ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html"))
}

// pagePolicy allows nothing from elsewhere. There is no form-action in it: browsers hold that against the redirect to
// the shop's order page, too.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *Shop) render(w http.ResponseWriter, page string, data any) {
	var b bytes.Buffer
	if err := pages[page].Execute(&b, data); err != nil {
		s.core.Logger.Error("page failed", "page", page, "error", err)
		http.Error(w, "The page failed; see the log.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes())
}
