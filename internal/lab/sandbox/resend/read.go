package resend

import (
	"net/http"
	"slices"
	"strconv"

	"handover/internal/lab/sandbox/core"
)

const resendTime = "2006-01-02T15:04:05.000000-07:00"

// emailObject is https://resend.com/docs/api-reference/emails/retrieve-email. The API gives no tags back; only its
// events do.
func emailObject(m Message) core.Object {
	return core.Object{
		"object": "email", "id": m.ID, "from": m.From, "to": m.To, "cc": m.Cc, "bcc": m.Bcc, "reply_to": m.ReplyTo,
		"subject": m.Subject, "html": m.HTML, "text": m.Text, "created_at": m.AcceptedAt.UTC().Format(resendTime),
		"last_event": m.LastEvent, "scheduled_at": nil,
	}
}

func (s *Resend) getEmail(w http.ResponseWriter, r *http.Request) {
	m, found := s.Message(r.PathValue("id"))
	if !found {
		writeError(w, http.StatusNotFound, "not_found", "Email not found")
		return
	}
	core.WriteJSON(w, http.StatusOK, emailObject(m))
}

// listEmails is https://resend.com/docs/api-reference/emails/list-emails: newest first, without the bodies.
func (s *Resend) listEmails(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := 20
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			writeError(w, http.StatusUnprocessableEntity, "validation_error", "The limit must be between 1 and 100.")
			return
		}
		limit = n
	}
	all := s.Messages()
	slices.Reverse(all)
	index := func(id string) int { return slices.IndexFunc(all, func(m Message) bool { return m.ID == id }) }
	after, before := q.Get("after"), q.Get("before")
	for _, cursor := range []string{after, before} {
		if cursor != "" && index(cursor) < 0 {
			writeError(w, http.StatusUnprocessableEntity, "validation_error", "The pagination cursor is unknown.")
			return
		}
	}

	var more bool
	if before != "" { // the page that ends just above the cursor
		all = all[:index(before)]
		more = len(all) > limit
		all = all[max(0, len(all)-limit):]
	} else {
		all = all[index(after)+1:]
		more = len(all) > limit
		all = all[:min(limit, len(all))]
	}
	data := []core.Object{}
	for _, m := range all {
		o := emailObject(m)
		delete(o, "html")
		delete(o, "text")
		delete(o, "object")
		data = append(data, o)
	}
	core.WriteJSON(w, http.StatusOK, core.Object{"object": "list", "has_more": more, "data": data})
}

// Messages returns all accepted messages, oldest first.
func (s *Resend) Messages() []Message {
	s.core.Lock()
	defer s.core.Unlock()
	return append([]Message{}, slices.Collect(s.messages.Oldest())...) // an empty list is no null
}

// MessagesSince returns the accepted messages after the first n, oldest first.
func (s *Resend) MessagesSince(n int) []Message {
	s.core.Lock()
	defer s.core.Unlock()
	return slices.Collect(s.messages.Since(n))
}

// Message returns an accepted message as it is now.
func (s *Resend) Message(id string) (Message, bool) {
	s.core.Lock()
	defer s.core.Unlock()
	return s.messages.Get(id)
}
