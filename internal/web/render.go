package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// chrome is what every page has around its content.
type chrome struct {
	Title       string
	Shop        string
	ContactText string
	ContactHref string
	Base        string
	Assets      string // a word that changes with the assets, so that a cached one never meets a newer page
	Live        bool   // the page has more to say soon: order.js asks, and a browser without scripts loads it again
}

func (s *server) chrome(title string) chrome {
	c := chrome{Title: title, Shop: s.ShopName, ContactText: s.Contact, Base: s.base, Assets: assetsVersion}
	switch {
	case strings.HasPrefix(s.Contact, "https://"), strings.HasPrefix(s.Contact, "http://"):
		c.ContactHref = s.Contact
		_, c.ContactText, _ = strings.Cut(s.Contact, "://")
	case strings.Contains(s.Contact, "@"):
		c.ContactHref = "mailto:" + s.Contact
	}
	return c
}

func (s *server) parsePages() (*template.Template, error) {
	return template.ParseFS(pageFiles, "pages/*.html")
}

// render makes the whole page before it sends any of it, so that a page is never half an error.
func (s *server) render(w http.ResponseWriter, r *http.Request, status int, name string, model any) {
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name, model); err != nil {
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

// asset serves the style sheet and the script. They hold nothing of anybody, so they may be cached.
func (s *server) asset(w http.ResponseWriter, r *http.Request) {
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

func (s *server) favicon(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) robots(w http.ResponseWriter, _ *http.Request) {
	const text = "User-agent: *\nDisallow: /\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write([]byte(text)) // the client may be gone
}
