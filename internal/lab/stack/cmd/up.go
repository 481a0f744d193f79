package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// orderLimit bounds how long an order may take; a crash in the middle costs an attempt's 20 seconds and more.
const orderLimit = 60 * time.Second

// up brings everything up, shows one order and stays until Ctrl-C.
func up(ctx context.Context, root string) error {
	return show(ctx, root, os.Stdout, func(ctx context.Context, s *running, a *apps, p *purchase) error {
		s.printAddresses(os.Stdout, a, p)
		fmt.Fprintf(os.Stdout, "  Ctrl-C stops everything. Logs are in %s\n", s.relative(s.state.Path("logs")))
		defer fmt.Fprintln(s.say, "stopping …")
		return stay(ctx)
	})
}

// demo ends when the order is delivered. With JSON=1 standard output holds the order's status and nothing else.
func demo(ctx context.Context, root string) error {
	asJSON := os.Getenv("JSON") != "" && os.Getenv("JSON") != "0"
	var story io.Writer = os.Stdout
	if asJSON {
		story = os.Stderr
	}
	return show(ctx, root, story, func(ctx context.Context, s *running, a *apps, p *purchase) error {
		if !asJSON {
			fmt.Fprintln(story, "  make up keeps it running, with the order page, the Temporal UI, a shop and an inbox")
			return nil
		}
		command := exec.CommandContext(ctx, s.program("starter"), "status", p.key(), "--json")
		command.Env, command.Stderr = a.environment, os.Stderr
		text, err := command.Output()
		if err != nil {
			return fmt.Errorf("starter status: %w", err)
		}
		_, err = os.Stdout.Write(text)
		return err
	})
}

// show brings everything up, has one product bought, prints what happened and calls then.
func show(ctx context.Context, root string, story io.Writer, then func(context.Context, *running, *apps, *purchase) error) (err error) {
	var o serverOptions
	if o.database, o.temporal, err = ownServers(os.Getenv); err != nil {
		return err
	}
	s, ctx, err := newStack(ctx, root, "stack")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = cmp.Or(stay(ctx), err) // a process that died is behind whatever failed then
		}
		explain(s.say, err)
		s.close()
	}()
	err = together(ctx,
		func(ctx context.Context) error { return s.startServers(ctx, o) },
		s.build,
	)
	if err != nil {
		return err
	}
	a, err := s.startApps(ctx)
	if err != nil {
		return err
	}
	p, err := s.buy(ctx, a, story)
	if err != nil {
		return logged(err, s.state.Log("worker"), s.state.Log("starter"), s.state.Log("sandbox"))
	}
	return then(ctx, s, a, p)
}

// buy finishes what an interrupted start had begun, beside one new purchase.
func (s *running) buy(ctx context.Context, a *apps, story io.Writer) (*purchase, error) {
	record := s.state.Path("purchase.json")
	earlier := loadUnfinished(record)
	if earlier != nil {
		// The webhook may not have gone out before the crash; a second one starts nothing new.
		if err := a.deliver(ctx, earlier); err != nil {
			return nil, fmt.Errorf("finish the interrupted order %s: %w", earlier.key(), err)
		}
	}
	what := forSale[0]
	p, err := a.checkOut(what)
	if err != nil {
		return nil, fmt.Errorf("buy at the sandbox: %w", err)
	}
	if err := p.save(record); err != nil {
		return nil, err
	}
	if err := a.deliver(ctx, p); err != nil {
		return nil, err
	}
	if err := a.watch(ctx, p, orderLimit); err != nil {
		return nil, err
	}
	read, err := a.openLink(ctx, p)
	if err != nil {
		return nil, err
	}
	printStory(story, what, p, read)
	if earlier != nil {
		fmt.Fprintf(story, "  waiting for the order that was interrupted before: %s …\n", earlier.key())
		if err := a.watch(ctx, earlier, 2*orderLimit); err != nil {
			return nil, fmt.Errorf("the order of the interrupted start: %w", err)
		}
		fmt.Fprint(story, "  it is delivered too\n\n")
	}
	return p, p.save(record)
}

func printStory(out io.Writer, what sale, p *purchase, read int) {
	fmt.Fprintf(out, "\n%s: paid, unlocked and emailed in %s\n\n", what.Name, round(p.took()))
	line := func(at time.Duration, text string) { fmt.Fprintf(out, "  %7s  %s\n", round(at), text) }
	line(0, "checkout finished at the sandbox")
	line(p.answered, "webhook answered 200")
	for _, fact := range p.seen {
		line(fact.at, fact.what)
	}
	fmt.Fprintf(out, "  %7s  the emailed link opens, and gives %s (%d bytes)\n\n", "", what.file, read)
}

// printAddresses is for a stack that stays.
func (s *running) printAddresses(out io.Writer, a *apps, p *purchase) {
	address := func(name, text string) { fmt.Fprintf(out, "  %-11s %s\n", name, text) }
	address("order page", a.starter+"/orders/"+p.key())
	if s.temporal != nil {
		id := "order:" + strings.ReplaceAll(p.key(), "/", ":")
		address("Temporal", s.temporal.UI()+"/namespaces/default/workflows/"+id)
	} else {
		address("Temporal", s.temporalAddress())
	}
	address("shop", a.sandbox+"/")
	address("inbox", a.sandbox+"/inbox")
	address("commands", ". "+s.relative(a.variables)+" && starter list")
	fmt.Fprintln(out)
}
