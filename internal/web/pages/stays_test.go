package pages

import (
	"net/http/httptest"
	"testing"
	"time"
)

// A mail scanner fetches a page and is gone; a person's page asks again after a while. HEAD and prefetching count for nothing.
func TestOnlyWhoStaysHasOpenedTheLink(t *testing.T) {
	t.Parallel()
	type visit struct {
		after  time.Duration
		method string
		json   bool
		ahead  bool // a browser's guess
	}
	for name, c := range map[string]struct {
		visits []visit
		opened bool // by the last of them
	}{
		"a scanner":                   {[]visit{{0, "GET", false, false}}, false},
		"a scanner that comes again":  {[]visit{{0, "GET", false, false}, {time.Minute, "GET", false, false}}, false},
		"a scanner that asks at once": {[]visit{{0, "GET", false, false}, {time.Second, "GET", true, false}}, false},
		"a person":                    {[]visit{{0, "GET", false, false}, {6 * time.Second, "GET", true, false}}, true},
		"without the page":            {[]visit{{0, "GET", true, false}}, false},
		"after a HEAD":                {[]visit{{0, "HEAD", false, false}, {6 * time.Second, "GET", true, false}}, false},
		"a HEAD after a while":        {[]visit{{0, "GET", false, false}, {6 * time.Second, "HEAD", true, false}}, false},
		"after a prefetch":            {[]visit{{0, "GET", false, true}, {6 * time.Second, "GET", true, false}}, false},
		"the day after":               {[]visit{{0, "GET", false, false}, {24 * time.Hour, "GET", true, false}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, opened := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), false
			var s stays
			for _, v := range c.visits {
				r := httptest.NewRequest(v.method, "/d/token", nil)
				if v.ahead {
					r.Header.Set("Sec-Purpose", "prefetch")
				}
				opened = s.stayed("token", r, v.json, began.Add(v.after))
			}
			if opened != c.opened {
				t.Errorf("opened: %v", opened)
			}
		})
	}
}
