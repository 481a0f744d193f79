package web_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"handover/internal/web"
)

func TestBodiesUpToTheLimit(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{65_535: 200, 65_537: 200, 300_000: 200, 1 << 20: 200, 1<<20 + 1: 413} {
		s := newShop(t)
		body := []byte(paid + strings.Repeat(" ", size-len(paid)))
		w := post(s, "/webhooks/payments/test", body)
		if w.Code != want || (len(s.events) == 1) != (want == 200) {
			t.Errorf("%d bytes: got %d with %d stored, want %d", size, w.Code, len(s.events), want)
		}
		if want == 413 && !strings.Contains(s.log.String(), `"limit_bytes":1048576`) {
			t.Errorf("the log does not name the limit: %s", s.log)
		}
	}
}

// spaces is an endless body that counts what was taken of it.
type spaces struct{ taken int64 }

func (s *spaces) Read(p []byte) (int, error) {
	s.taken += int64(len(p))
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

func TestEndlessChunkedBodyIsCutOffInFlatMemory(t *testing.T) {
	s := newShop(t) // not parallel: it measures the process's memory
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	_, _ = fmt.Fprint(conn, "POST /webhooks/payments/test HTTP/1.1\r\nHost: shop.test\r\nTest-Signature: any\r\nTransfer-Encoding: chunked\r\n\r\n")
	sent := make(chan int64, 1)
	go func() {
		chunk := []byte(fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16)))
		var total int64
		for total < 2<<30 {
			if _, err := conn.Write(chunk); err != nil {
				break
			}
			total += 1 << 16
		}
		sent <- total
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 413 || !response.Close {
		t.Errorf("got %d, connection closed %v", response.StatusCode, response.Close)
	}
	if total := <-sent; total > 64<<20 {
		t.Errorf("%d bytes were taken before the cut", total)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("allocated %d bytes for a body that is refused", grown)
	}
	if len(s.events) != 0 {
		t.Error("something was stored")
	}
}

func TestAnnouncedSizeIsRefusedUnread(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	body := &spaces{}
	r := httptest.NewRequest("POST", "/webhooks/payments/test", body)
	r.ContentLength = 2 << 30
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 413 || body.taken != 0 {
		t.Errorf("got %d after %d bytes", w.Code, body.taken)
	}
}

func TestSlowBodyIsCutOff(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(_ *web.Deps, c *web.Config) { c.BodyTime = 50 * time.Millisecond })
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /webhooks/payments/test HTTP/1.1\r\nHost: shop.test\r\nTest-Signature: any\r\nContent-Length: %d\r\n\r\n{", len(paid))
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != 408 || !response.Close || len(s.events) != 0 {
		t.Errorf("got %d, closed %v, %d stored", response.StatusCode, response.Close, len(s.events))
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
}

func TestCutBodyStoresNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	r := httptest.NewRequest("POST", "/webhooks/payments/test", io.MultiReader(strings.NewReader(paid[:40]), brokenReader{}))
	r.Header.Set("Test-Signature", sign([]byte(paid)))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 400 || len(s.events) != 0 {
		t.Errorf("got %d with %d stored", w.Code, len(s.events))
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestABodyWithoutAUsableSignatureIsNotRead(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/payments/test", "/webhooks/email"} {
		for _, signature := range []string{"", "stale"} {
			s := newShop(t)
			body := &spaces{}
			r := httptest.NewRequest(http.MethodPost, path, body)
			r.ContentLength = -1
			r.Header.Set("Test-Signature", signature)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != 401 || body.taken != 0 {
				t.Errorf("%s, signature %q: got %d after %d bytes", path, signature, w.Code, body.taken)
			}
		}
	}
}

// held is a body that says when its reading begins and ends when it is released.
type held struct{ begun, release chan struct{} }

func (h held) Read([]byte) (int, error) {
	h.begun <- struct{}{}
	<-h.release
	return 0, io.EOF
}

func TestMoreThan64BodiesAtOnceAreSentAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	deliver := func(body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/webhooks/payments/test", body)
		r.Header.Set("Test-Signature", "any")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	body := held{make(chan struct{}), make(chan struct{})}
	var reading sync.WaitGroup
	for range 64 {
		reading.Go(func() { deliver(body) })
		<-body.begun
	}

	if w := deliver(strings.NewReader("{}")); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if w := get(s, orderPath); w.Code != 200 {
		t.Errorf("a page is answered with %d meanwhile", w.Code)
	}

	close(body.release)
	reading.Wait()
	if w := post(s, "/webhooks/payments/test", []byte(paid)); w.Code != 200 {
		t.Errorf("afterwards: got %d", w.Code)
	}
}
