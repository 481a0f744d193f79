package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed html/*.html
var pageFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// layout is what every page has around its content.
type layout struct {
	Title       string
	Shop        string
	ContactText string
	ContactHref string
	Base        string
	Assets      string // a word that changes with the assets, so that a cached one never meets a newer page
	Live        bool   // the page has more to say soon: order.js asks, and a browser without scripts loads it again
}

func (s *Site) layout(title string) layout {
	c := layout{Title: title, Shop: s.ShopName, ContactText: s.Contact, Base: s.Base, Assets: assetsVersion}
	switch {
	case strings.HasPrefix(s.Contact, "https://"), strings.HasPrefix(s.Contact, "http://"):
		c.ContactHref = s.Contact
		_, c.ContactText, _ = strings.Cut(s.Contact, "://")
	case strings.Contains(s.Contact, "@"):
		c.ContactHref = "mailto:" + s.Contact
	}
	return c
}

// render executes the whole page before it sends any of it, so that a page is never half an error.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, name string, model any) {
	var page bytes.Buffer
	if err := s.templates.ExecuteTemplate(&page, name, model); err != nil {
		s.Log.Error("page could not be rendered", "page", name, "route", r.Pattern, "error", err)
		status = http.StatusInternalServerError
		page.Reset()
		page.WriteString("<!doctype html><title>Something went wrong</title><p>Something went wrong on our side. Please try again.")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client may be gone
}

func setRetryAfter(w http.ResponseWriter, seconds int) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
}

var assetsVersion = func() string {
	sum := sha256.New()
	err := fs.WalkDir(assetFiles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(name)
		sum.Write(content)
		return err
	})
	if err != nil {
		panic(err) // the files are in the binary
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}()

// Asset serves the style sheet and the script. They hold nothing of anybody, so they may be cached.
func (s *Site) Asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		s.message(w, r, messageNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // the client may be gone
}

// Favicon says that there is no icon.
func (s *Site) Favicon(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.WriteHeader(http.StatusNoContent)
}

// Robots lets crawlers fetch the pages, because only then do they see that a page is not to be listed.
func (s *Site) Robots(w http.ResponseWriter, _ *http.Request) {
	const text = "User-agent: *\nDisallow: /webhooks/\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write([]byte(text)) // the client may be gone
}
