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

// disposition offers the file for saving under its name: a plain one for old clients and, where that loses something,
// the exact one in UTF-8 (https://www.rfc-editor.org/rfc/rfc6266#section-4.3).
func disposition(name string) string {
	name = strings.ToValidUTF8(name, "_")
	var plain, exact strings.Builder
	for _, c := range name {
		if c < ' ' || c >= 0x7f || strings.ContainsRune(`"\%/`, c) {
			plain.WriteByte('_')
		} else {
			plain.WriteRune(c)
		}
	}
	value := `attachment; filename="` + plain.String() + `"`
	if plain.String() == name {
		return value
	}
	const hex = "0123456789ABCDEF"
	for i := range len(name) {
		c := name[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			exact.WriteByte(c)
			continue
		}
		exact.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return value + "; filename*=UTF-8''" + exact.String()
}
