// Package setting says what is wrong with a value of the configuration and never repeats the value. Adapters check their
// own settings with it, once: the configuration adds file and line, an adapter's New makes an error of it.
package setting

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Problem is one value that cannot work. It holds no part of the value.
type Problem struct {
	Name    string // the setting within its table: api_key, webhook_secrets[1]
	Missing bool   // the value is empty, and Text says what to write
	Text    string
}

// Error joins the problems of one adapter; nil for none.
func Error(adapter string, problems []Problem) error {
	var list []error
	for _, p := range problems {
		text := p.Text
		if p.Missing {
			text = "is empty; " + text
		}
		list = append(list, fmt.Errorf("%s: %s %s", adapter, p.Name, text))
	}
	return errors.Join(list...)
}

// Element names one entry of a list.
func Element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// Address checks the base address of an API; an empty one stands for the provider's own.
func Address(name, value string) []Problem {
	value = strings.TrimSpace(value)
	u, err := url.Parse(value)
	switch {
	case value == "":
		return nil
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return []Problem{{Name: name, Text: "is not an absolute http or https address; correct it or remove the setting"}}
	case u.RawQuery != "" || u.Fragment != "":
		return []Problem{{Name: name, Text: "must be an address without a query and a fragment; correct it or remove the setting"}}
	}
	return nil
}
