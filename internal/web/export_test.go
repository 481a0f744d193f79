package web

import (
	"net/http"
	"time"
)

// SetBodyTime shortens how long a client may take to send its body.
func SetBodyTime(h http.Handler, d time.Duration) { h.(*server).bodyTime = d }
