package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// helpWidth is the widest line of a help text, for terminals of 80 columns.
const helpWidth = 80

// printHelp writes the help of one command, or the overview: examples first, because they are what a reader looks for.
func printHelp(_ kong.HelpOptions, ctx *kong.Context) error {
	page := &strings.Builder{}
	if command := ctx.Selected(); command != nil {
		commandHelp(page, command)
	} else {
		overview(page, ctx.Model)
	}
	_, err := io.WriteString(ctx.Stdout, page.String())
	return err
}

func overview(w io.Writer, app *kong.Application) {
	fmt.Fprintln(w, "Handover's server and the operator's command line.")
	examples(w, "")
	fmt.Fprintf(w, "\nUsage: starter COMMAND [flags]\n\nCommands:\n")
	var rows [][2]string
	for _, command := range app.Leaves(true) {
		rows = append(rows, [2]string{command.Name, command.Help})
	}
	columns(w, rows)
	fmt.Fprintf(w, "\n%s\n", wrap(manuals[""].details, ""))
}

func commandHelp(w io.Writer, command *kong.Node) {
	fmt.Fprintln(w, command.Help)
	examples(w, command.Name)
	fmt.Fprintf(w, "\nUsage: %s\n", usage(command))
	if details := manuals[command.Name].details; details != "" {
		fmt.Fprintf(w, "\n%s\n", wrap(details, ""))
	}

	var rows [][2]string
	for _, p := range command.Positional {
		rows = append(rows, [2]string{strings.ToUpper(p.Name), p.Help})
	}
	for _, group := range command.AllFlags(true) {
		for _, f := range group {
			rows = append(rows, [2]string{flagText(f), f.Help})
		}
	}
	fmt.Fprintln(w)
	columns(w, rows)
}

func examples(w io.Writer, command string) {
	fmt.Fprintln(w, "\nExamples:")
	for _, line := range manuals[command].examples {
		fmt.Fprintf(w, "  starter %s\n", line)
	}
}

// usage is the command with what it requires.
func usage(command *kong.Node) string {
	parts := []string{"starter", command.Name}
	for _, p := range command.Positional {
		name := strings.ToUpper(p.Name)
		if !p.Required {
			name = "[" + name + "]"
		}
		parts = append(parts, name)
	}
	for _, group := range command.AllFlags(true) {
		for _, f := range group {
			if f.Required {
				parts = append(parts, flagText(f))
			}
		}
	}
	return strings.Join(append(parts, "[flags]"), " ")
}

func flagText(f *kong.Flag) string {
	if f.IsBool() {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.FormatPlaceHolder()
}

// columns writes names beside their help, which is wrapped.
func columns(w io.Writer, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, row[0], wrap(row[1], strings.Repeat(" ", width+4)))
	}
}

// wrap breaks a text into lines, all but the first indented.
func wrap(s, indent string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(indent)+len(line)+1+len(word) > helpWidth {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n"+indent)
}
