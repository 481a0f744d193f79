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

	_, _ = fmt.Fprint(conn, "POST /webhooks/payments/test HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n")
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
	s := newShop(t)
	web.SetBodyTime(s.Handler, 50*time.Millisecond)
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /webhooks/payments/test HTTP/1.1\r\nHost: shop.test\r\nContent-Length: %d\r\n\r\n{", len(paid))
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
