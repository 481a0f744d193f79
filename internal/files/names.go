package files

import (
	"mime"
	"path"
	"strings"
)

// Types that a machine's own table often lacks or has otherwise.
var types = map[string]string{
	".azw3": "application/vnd.amazon.ebook",
	".dmg":  "application/x-apple-diskimage",
	".epub": "application/epub+zip",
	".flac": "audio/flac",
	".gz":   "application/gzip",
	".m4a":  "audio/mp4",
	".md":   "text/markdown; charset=utf-8",
	".mobi": "application/x-mobipocket-ebook",
	".mp3":  "audio/mpeg",
	".mp4":  "video/mp4",
	".otf":  "font/otf",
	".pdf":  "application/pdf",
	".txt":  "text/plain; charset=utf-8",
	".wav":  "audio/wav",
	".zip":  "application/zip",
}

// contentType goes by the name first: buckets often say octet-stream or what an upload tool guessed.
func contentType(name, stored string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, found := types[ext]; found {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	if stored != "" {
		return stored
	}
	return "application/octet-stream"
}

// disposition offers the file for saving under its name (https://www.rfc-editor.org/rfc/rfc6266).
func disposition(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": strings.ToValidUTF8(name, "_")})
}
