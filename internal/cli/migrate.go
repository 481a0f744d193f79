package cli

import (
	"fmt"

	"handover/internal/ledger"
	"handover/internal/text"
)

type migrateCommand struct {
	JSON bool `help:"Print JSON."`
}

func (m *migrateCommand) Run(c *console) error {
	pool, _, err := c.openPool()
	if err != nil {
		return err
	}
	defer pool.Close()

	ran, err := ledger.Migrate(c.ctx, pool)
	if err != nil {
		return err
	}

	switch {
	case m.JSON:
		return c.printJSON(map[string]int{"migrations": ran})
	case ran == 0:
		fmt.Fprintln(c.Out, "The schema is up to date.")
	default:
		fmt.Fprintf(c.Out, "The schema is up to date: %s run.\n", text.Count(ran, "migration"))
	}
	return nil
}
