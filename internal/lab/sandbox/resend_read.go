package sandbox

import (
	"net/http"
	"slices"
	"strconv"
)

const resendTime = "2006-01-02T15:04:05.000000-07:00"

// emailObject is https://resend.com/docs/api-reference/emails/retrieve-email. The API gives no tags back; only its
// events do.
func emailObject(m Message) object {
	return object{
		"object": "email", "id": m.ID, "from": m.From, "to": m.To, "cc": m.Cc, "bcc": m.Bcc, "reply_to": m.ReplyTo,
		"subject": m.Subject, "html": m.HTML, "text": m.Text, "created_at": m.AcceptedAt.UTC().Format(resendTime),
		"last_event": m.LastEvent, "scheduled_at": nil,
	}
}

func (s *Sandbox) getEmail(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	m, found := s.messages[r.PathValue("id")]
	s.mu.Unlock()
	if !found {
		resendError(w, http.StatusNotFound, "not_found", "Email not found")
		return
	}
	writeJSON(w, http.StatusOK, emailObject(m))
}

// listEmails is https://resend.com/docs/api-reference/emails/list-emails: newest first, without the bodies.
func (s *Sandbox) listEmails(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := 20
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			resendError(w, http.StatusUnprocessableEntity, "validation_error", "The limit must be between 1 and 100.")
			return
		}
		limit = n
	}
	s.mu.Lock()
	ids := slices.Clone(s.messageSeq)
	s.mu.Unlock()
	slices.Reverse(ids)
	after, before := q.Get("after"), q.Get("before")
	for _, cursor := range []string{after, before} {
		if cursor != "" && !slices.Contains(ids, cursor) {
			resendError(w, http.StatusUnprocessableEntity, "validation_error", "The pagination cursor is unknown.")
			return
		}
	}
	more := false
	switch {
	case before != "": // the page that ends just above the cursor
		ids = ids[:slices.Index(ids, before)]
		more = len(ids) > limit
		ids = ids[max(0, len(ids)-limit):]
	default:
		ids = ids[slices.Index(ids, after)+1:]
		more = len(ids) > limit
		ids = ids[:min(limit, len(ids))]
	}
	data := []object{}
	s.mu.Lock()
	for _, id := range ids {
		o := emailObject(s.messages[id])
		delete(o, "html")
		delete(o, "text")
		delete(o, "object")
		data = append(data, o)
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "has_more": more, "data": data})
}
