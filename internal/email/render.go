package email

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"
	"unicode"
	"unicode/utf8"

	"handover/internal/text"
)

//go:embed templates
var templates embed.FS

var (
	accessText = texttemplate.Must(texttemplate.ParseFS(templates, "templates/access.txt"))
	accessHTML = htmltemplate.Must(htmltemplate.ParseFS(templates, "templates/access.html"))
)

const (
	maxSubjectNames = 120 // characters of the products' names in a subject
	maxName         = 40  // characters of a buyer's name; a longer text is none
	maxDigits       = 2   // digits in a name
)

// Access is what the access email tells.
type Access struct {
	ShopName  string // as in the sender; empty is "our shop"
	BuyerName string // as the buyer typed it; may be empty
	OrderRef  string // what the buyer quotes to the shop
	Link      string // order.LinkPlaceholder, in messages that are stored
	Test      bool   // no real money was paid
	Items     []AccessItem
	Licenses  []LicenseLine
}

// AccessItem is one product that the buyer got.
type AccessItem struct {
	Name     string
	Units    int64 // shown from 2 on
	Download bool  // there is something to download behind the link
}

// LicenseLine is one licence key.
type LicenseLine struct {
	Product string // the product's name
	Key     string
}

// RenderAccess writes the access email. Names are text everywhere: in the HTML part they are escaped, in the subject and
// the text part they stand as they are.
func RenderAccess(a Access) (subject, text, html string, err error) {
	if len(a.Items) == 0 || a.Link == "" {
		return "", "", "", errors.New("render the access email: there is nothing to open: items and a link are needed")
	}
	page := newAccessPage(a)
	var textPart, htmlPart bytes.Buffer
	if err := accessText.Execute(&textPart, page); err != nil {
		return "", "", "", fmt.Errorf("render the access email's text: %w", err)
	}
	if err := accessHTML.Execute(&htmlPart, page); err != nil {
		return "", "", "", fmt.Errorf("render the access email's HTML: %w", err)
	}
	return page.Subject, textPart.String(), htmlPart.String(), nil
}

// accessPage is what the two templates see.
type accessPage struct {
	Subject, Greeting, Shop, Ready, Button, LicensesTitle, OrderRef, Link string

	Test     bool
	Items    []labelled
	Licenses []LicenseLine
}

type labelled struct{ Label string }

func newAccessPage(a Access) accessPage {
	p := accessPage{
		Greeting: "Hello,",
		Shop:     nameOr(a.ShopName, "our shop"),
		OrderRef: text.Line(a.OrderRef),
		Link:     a.Link,
		Test:     a.Test,
	}
	if name := text.Line(a.BuyerName); isName(name) {
		p.Greeting = "Hello " + name + ","
	}
	var names []string
	downloads := 0
	for _, item := range a.Items {
		name := nameOr(item.Name, "your purchase")
		names = append(names, name)
		if item.Download {
			downloads++
		}
		if item.Units > 1 {
			name = fmt.Sprintf("%s (%d ×)", name, item.Units)
		}
		p.Items = append(p.Items, labelled{name})
	}
	for _, l := range a.Licenses {
		p.Licenses = append(p.Licenses, LicenseLine{Product: nameOr(l.Product, "your purchase"), Key: text.Line(l.Key)})
	}
	p.LicensesTitle = text.Plural(len(a.Licenses), "Your licence key", "Your licence keys")
	switch {
	case downloads > 0:
		p.Subject = text.Plural(downloads, "Your download: ", "Your downloads: ")
		p.Ready = text.Plural(downloads, "Your download is ready:", "Your downloads are ready:")
		p.Button = "Open your " + text.Plural(downloads, "download", "downloads")
	case len(a.Licenses) > 0:
		p.Subject = p.LicensesTitle + ": "
		p.Ready = text.Plural(len(a.Licenses), "Your licence key is ready:", "Your licence keys are ready:")
		p.Button = "Open your order"
	default:
		p.Subject = "Your order: "
		p.Ready = "It is ready:"
		p.Button = "Open your order"
	}
	p.Subject += list(names)
	return p
}

// list joins names as people write them, and leaves out the last ones when a subject would be too long.
func list(names []string) string {
	for shown := len(names); shown > 0; shown-- {
		said := slices.Clone(names[:shown])
		if rest := len(names) - shown; rest > 0 {
			said = append(said, fmt.Sprintf("%d more", rest))
		}
		joined := said[0]
		if last := len(said) - 1; last > 0 {
			joined = strings.Join(said[:last], ", ") + " and " + said[last]
		}
		if len([]rune(joined)) <= maxSubjectNames {
			return joined
		}
	}
	return cut(names[0], maxSubjectNames)
}

// notAName finds what an address of the web or of a mailbox has: the shop's domain never sends a stranger's link.
var notAName = regexp.MustCompile(`[/:@]|[.．。｡]\p{L}{2}`)

// isName says whether what the buyer typed looks like a name, and is not a word that shop software writes for none.
func isName(name string) bool {
	switch strings.ToLower(name) {
	case "", "<nil>", "null", "(null)", "undefined":
		return false
	}
	digits := 0
	for _, c := range name {
		if unicode.IsDigit(c) {
			digits++
		}
	}
	return utf8.RuneCountInString(name) <= maxName && digits <= maxDigits && !notAName.MatchString(name)
}

func nameOr(name, fallback string) string {
	if name = text.Line(name); name == "" {
		return fallback
	}
	return name
}

func cut(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return s
}
