//go:build failpoints

package failpoint

import (
	"net/http"
	"net/url"
	"os"
	"strconv"
)

// control is the address of the test that holds processes at points; empty where none does.
var control = os.Getenv("HANDOVER_FAILPOINTS")

// client never gives up: a process stands at a point for as long as the test wants.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// Hit reports to the test that this process stands at the point, and returns when the test lets it go on: at once where
// the point is not armed, and also when the test is gone.
func Hit(point string) {
	if control == "" {
		return
	}
	answer, err := client.PostForm(control, url.Values{"point": {point}, "pid": {strconv.Itoa(os.Getpid())}})
	if err == nil {
		_ = answer.Body.Close()
	}
}
