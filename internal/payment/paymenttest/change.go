package paymenttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"
)

// grown adds fields that no version of the API has yet to every object.
func grown(t *testing.T, body []byte) []byte {
	t.Helper()
	return rewritten(t, body, func(o map[string]any) {
		o["zebra"], o["zebras"] = "striped", []any{map[string]any{"id": "zb_1", "status": "striped"}, nil, 7}
	})
}

// rewritten changes every object of a JSON text.
func rewritten(t *testing.T, body []byte, change func(map[string]any)) []byte {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("not JSON: %v\n%s", err, body)
		return body
	}
	walk(v, change)
	changed, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return changed
}

func walk(v any, change func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if name != "metadata" { // the seller's own fields, and not the provider's
				walk(inner, change)
			}
		}
		change(v)
	case []any:
		for _, inner := range v {
			walk(inner, change)
		}
	}
}

// through puts a proxy before a stand-in that rewrites the bodies of its answers, and returns its address.
func through(t *testing.T, apiURL string, rewrite func([]byte) []byte) string {
	t.Helper()
	target, err := url.Parse(apiURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			body = rewrite(body)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + target.Path
}
