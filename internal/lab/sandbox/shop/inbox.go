package shop

import (
	"net/http"
	"slices"
	"strings"

	"handover/internal/lab/sandbox/core"
	"handover/internal/lab/sandbox/resend"
)

func (s *Shop) inboxPage(w http.ResponseWriter, _ *http.Request) {
	list := s.resend.Messages()
	slices.Reverse(list)
	s.render(w, "inbox", map[string]any{
		"Page": "inbox", "Total": len(list), "Messages": list[:min(200, len(list))],
	})
}

func (s *Shop) message(w http.ResponseWriter, r *http.Request) (resend.Message, bool) {
	m, found := s.resend.Message(r.PathValue("id"))
	if !found {
		http.Error(w, "There is no such message.", http.StatusNotFound)
	}
	return m, found
}

func (s *Shop) messagePage(w http.ResponseWriter, r *http.Request) {
	if m, found := s.message(w, r); found {
		s.render(w, "message", map[string]any{"Page": "inbox", "Message": m, "Notice": notices[r.URL.Query().Get("taken")]})
	}
}

var notices = map[string]string{
	"yes":  "The event was signed and delivered.",
	"no":   "The event was not taken yet; it is tried again for about a minute.",
	"none": "Nothing was sent: no email webhook is configured.",
}

// messageHTML is the message as the buyer's mail program shows it. The policy keeps it from running scripts and from
// fetching anything; links open a window of their own.
func (s *Shop) messageHTML(w http.ResponseWriter, r *http.Request) {
	m, found := s.message(w, r)
	if !found {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "+
		"style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	const base = `<base target="_blank">`
	html := strings.Replace(m.HTML, "<head>", "<head>"+base, 1)
	if html == m.HTML {
		html = base + html
	}
	_, _ = w.Write([]byte(html))
}

// messageMark lets the operator of the demonstration play the mail server.
func (s *Shop) messageMark(w http.ResponseWriter, r *http.Request) {
	event := r.PostFormValue("event")
	if !slices.Contains([]string{"email.delivered", "email.bounced", "email.complained"}, event) {
		http.Error(w, "There is no such button.", http.StatusBadRequest)
		return
	}
	m, found := s.message(w, r)
	if !found {
		return
	}
	taken := "none"
	d, err := s.resend.DeliverEmailEvent(r.Context(), m.ID, resend.EventRequest{Type: event, Retry: true})
	if err == nil {
		taken = "no"
		if core.Taken(d.Statuses[0]) {
			taken = "yes"
		}
	}
	http.Redirect(w, r, "/inbox/"+m.ID+"?taken="+taken, http.StatusSeeOther)
}
