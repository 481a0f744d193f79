package files

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"strings"
	"time"
)

// idle is how long a client may take for the next 32 kB before the connection is cut. The whole download may take as
// long as it likes.
const idle = 60 * time.Second

// Serve answers with the file as an attachment: whole, one range, or the head of it. An error means that the bucket
// failed; when nothing of the response has been sent by then, the header is as it was before.
func (b *Bucket) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	if b.leadsOut(name) {
		return fmt.Errorf("%w: a symbolic link leads out of the folder", ErrMissing)
	}
	attrs, err := b.blobs.Attributes(r.Context(), name)
	if err != nil {
		return sentinel(err)
	}
	before := w.Header().Clone()
	h := w.Header()
	h.Set("Content-Type", contentType(name, attrs.ContentType))
	h.Set("Content-Disposition", disposition(path.Base(name)))
	if tag := entityTag(attrs.ETag); tag != "" {
		h.Set("ETag", tag)
	}
	if attrs.ContentEncoding != "" {
		h.Set("Content-Encoding", attrs.ContentEncoding)
	}
	file := &content{ctx: r.Context(), blobs: b.blobs, name: name, size: attrs.Size}
	if b.folder {
		file.modTime = attrs.ModTime
	}
	defer file.closeReader()

	// net/http serves several ranges from a goroutine of its own that outlives the request, and each range would be a call
	// to the bucket. The whole file is a valid response (https://www.rfc-editor.org/rfc/rfc9110#section-14.2).
	if ranges := r.Header.Values("Range"); len(ranges) > 1 || strings.Contains(r.Header.Get("Range"), ",") {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	paced := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	http.ServeContent(paced, r, "", attrs.ModTime, file)
	if file.err != nil {
		if !paced.sent {
			clear(h)
			maps.Copy(h, before)
		}
		return file.err
	}
	paced.send()
	return nil
}

// pacedWriter keeps the status until there is a byte to go with it, so that a file that cannot be opened is still an
// honest error, and moves the write deadline on with every chunk.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	status  int
	sent    bool
}

func (p *pacedWriter) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

func (p *pacedWriter) Write(chunk []byte) (int, error) {
	p.send()
	// A writer without deadlines is a test's.
	_ = p.control.SetWriteDeadline(time.Now().Add(idle))
	return p.ResponseWriter.Write(chunk)
}

func (p *pacedWriter) send() {
	if !p.sent {
		p.sent = true
		p.ResponseWriter.WriteHeader(max(p.status, http.StatusOK))
	}
}

// entityTag makes the bucket's tag a strong one in HTTP's spelling; some buckets give it without quotes.
func entityTag(tag string) string {
	tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	if tag == "" || strings.ContainsFunc(tag, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' }) {
		return ""
	}
	return `"` + tag + `"`
}
