package files_test

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handover/internal/files"
)

const text = "0123456789abcdefghijklmnopqrstuvwxyz"

// shelf is a bucket of the given files, served by name.
func shelf(t *testing.T, names ...string) (*files.Bucket, string, func(method, name string, header ...string) *http.Response) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bucket, err := files.Open(t.Context(), "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	name := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Kept", "yes")
		if err := bucket.Serve(w, r, name); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(server.Close)
	return bucket, dir, func(method, file string, header ...string) *http.Response {
		t.Helper()
		name = file
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
}

func read(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServesWholeFileAsAttachment(t *testing.T) {
	t.Parallel()
	_, _, get := shelf(t, "books/guide.pdf")
	response := get("GET", "books/guide.pdf")
	if body := read(t, response); response.StatusCode != 200 || body != text {
		t.Errorf("got %d %q", response.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Content-Type":        "application/pdf",
		"Content-Disposition": `attachment; filename=guide.pdf`,
		"Accept-Ranges":       "bytes",
		"Content-Length":      "36",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if response.Header.Get("ETag") == "" || response.Header.Get("Last-Modified") == "" {
		t.Errorf("no ETag or no Last-Modified: %v", response.Header)
	}
}

func TestHeadHasTheHeaderOfGetAndNoBody(t *testing.T) {
	t.Parallel()
	_, _, get := shelf(t, "guide.pdf")
	response := get("HEAD", "guide.pdf")
	if body := read(t, response); response.StatusCode != 200 || body != "" || response.ContentLength != int64(len(text)) {
		t.Errorf("got %d %q, length %d", response.StatusCode, body, response.ContentLength)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	_, _, get := shelf(t, "guide.pdf")
	tests := []struct {
		spec   string
		status int
		body   string
	}{
		{"bytes=0-9", 206, "0123456789"},
		{"bytes=10-", 206, text[10:]},
		{"bytes=-3", 206, "xyz"},
		{"bytes=35-99", 206, "z"},
		{"bytes=36-", 416, ""},
	}
	for _, test := range tests {
		response := get("GET", "guide.pdf", "Range", test.spec)
		body := read(t, response)
		if response.StatusCode != test.status || test.status == 206 && body != test.body {
			t.Errorf("%s: got %d %q, want %d %q", test.spec, response.StatusCode, body, test.status, test.body)
		}
	}
}

func TestSeveralRangesAreAnsweredWithTheWholeFile(t *testing.T) {
	t.Parallel()
	_, _, get := shelf(t, "guide.pdf")
	for _, ranges := range []string{"bytes=20-24,0-4", "bytes=-1,-1,-1", "bytes=0-0,", "bytes=0-4, 6-8"} {
		response := get("GET", "guide.pdf", "Range", ranges)
		if body := read(t, response); response.StatusCode != 200 || body != text {
			t.Errorf("%s: got %d %q, want all of it", ranges, response.StatusCode, body)
		}
	}
}

func TestResumeGoesOnOnlyWithTheSameFile(t *testing.T) {
	t.Parallel()
	_, dir, get := shelf(t, "guide.pdf")
	tag := get("HEAD", "guide.pdf").Header.Get("ETag")
	response := get("GET", "guide.pdf", "Range", "bytes=30-", "If-Range", tag)
	if body := read(t, response); response.StatusCode != 206 || body != text[30:] {
		t.Errorf("same file: got %d %q", response.StatusCode, body)
	}
	if response := get("GET", "guide.pdf", "If-None-Match", tag); response.StatusCode != 304 {
		t.Errorf("unchanged file: got %d, want 304", response.StatusCode)
	}
	if err := os.WriteFile(filepath.Join(dir, "guide.pdf"), []byte("second edition"), 0o644); err != nil {
		t.Fatal(err)
	}
	response = get("GET", "guide.pdf", "Range", "bytes=30-", "If-Range", tag)
	if body := read(t, response); response.StatusCode != 200 || body != "second edition" {
		t.Errorf("replaced file: got %d %q, want all of the new one", response.StatusCode, body)
	}
}

func TestNamesBeyondASCII(t *testing.T) {
	t.Parallel()
	name := `Größe 100% "neu".epub`
	_, _, get := shelf(t, name)
	header := get("GET", name).Header.Get("Content-Disposition")
	want := `attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe%20100%25%20%22neu%22.epub`
	if header != want {
		t.Errorf("got  %s\nwant %s", header, want)
	}
	_, params, err := mime.ParseMediaType(header)
	if err != nil || params["filename"] != name {
		t.Errorf("a client reads %q, %v", params["filename"], err)
	}
}

func TestMissingAndUnreadableFilesLeaveTheAnswerToTheCaller(t *testing.T) {
	t.Parallel()
	bucket, dir, get := shelf(t, "guide.pdf")
	for _, name := range []string{"other.pdf", "../guide.pdf", "../../etc/passwd", ""} {
		response := get("GET", name)
		read(t, response)
		if response.StatusCode != http.StatusTeapot || response.Header.Get("Content-Disposition") != "" || response.Header.Get("X-Kept") != "yes" {
			t.Errorf("%q: got %d %v", name, response.StatusCode, response.Header)
		}
	}
	// A folder in the file's place can be asked about, not read, whoever runs the test.
	if err := os.Mkdir(filepath.Join(dir, "folder.pdf"), 0o755); err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	err := bucket.Serve(recorder, httptest.NewRequest("GET", "/", nil), "folder.pdf")
	if !errors.Is(err, files.ErrMissing) {
		t.Errorf("got %v, want ErrMissing", err)
	}
}

func TestHasTellsMissingFromPresent(t *testing.T) {
	t.Parallel()
	bucket, _, _ := shelf(t, "guide.pdf")
	for name, want := range map[string]bool{"guide.pdf": true, "other.pdf": false} {
		if got, err := bucket.Has(t.Context(), name); got != want || err != nil {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for bucketURL, want := range map[string]string{
		"":                        "no URL",
		"/var/lib/files":          "no URL",
		"ftp://example.com":       "ftp",
		"file://var/lib/files":    "three slashes",
		"file:///no/such/folder":  "does not exist: create it",
		"file://" + file:          "is not a folder",
		"file:///?no_such_word=1": "no_such_word",
	} {
		_, err := files.Open(t.Context(), bucketURL)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", bucketURL, err, want)
		}
	}
}

func TestOpenMakesTheFolderWhenTheURLSaysSo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made")
	bucket, err := files.Open(t.Context(), "file://"+dir+"?create_dir=true")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bucket.Close() }()
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// slowClient takes an answer and remembers how long it was given for each part.
type slowClient struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (s *slowClient) SetWriteDeadline(at time.Time) error {
	s.deadlines = append(s.deadlines, at)
	return nil
}

func TestLongDownloadsAreGivenTimeAsTheyGoOn(t *testing.T) {
	t.Parallel()
	bucket, dir, _ := shelf(t)
	if err := os.WriteFile(filepath.Join(dir, "film.mp4"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	client := &slowClient{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	if err := bucket.Serve(client, httptest.NewRequest("GET", "/", nil), "film.mp4"); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	if len(client.deadlines) < 1<<20/(32<<10) || client.Body.Len() != 1<<20 {
		t.Fatalf("%d deadlines for %d bytes", len(client.deadlines), client.Body.Len())
	}
	for _, at := range client.deadlines {
		if at.Before(began.Add(30*time.Second)) || at.After(ended.Add(2*time.Minute)) {
			t.Fatalf("a part was given %v", at.Sub(began))
		}
	}
}

// Whoever may put files into the folder can have no other file of this machine sold. A link that stays inside is fine.
func TestSymbolicLinkLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	bucket, dir, get := shelf(t, "v2.pdf")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"guide.pdf": secret, "up.pdf": "../" + filepath.Base(filepath.Dir(secret)) + "/secret", "latest.pdf": "v2.pdf"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"guide.pdf", "up.pdf"} {
		has, err := bucket.Has(t.Context(), name)
		if got := get(http.MethodGet, name); got.StatusCode != http.StatusTeapot || has || err != nil || strings.Contains(read(t, got), text) {
			t.Errorf("%s is served: %s, has %v, %v", name, got.Status, has, err)
		}
	}
	if got := get(http.MethodGet, "latest.pdf"); got.StatusCode != http.StatusOK {
		t.Errorf("a link within the folder: %s", got.Status)
	}
}
