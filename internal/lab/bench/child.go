package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// child is the bare process as the benchmark holds it.
type child struct {
	command *exec.Cmd
	asks    io.WriteCloser
	answers *bufio.Reader
}

// startChild runs this very program once more, as the bare worker. It ends with its input, so also when this process
// is killed.
func startChild(ctx context.Context) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{command: exec.CommandContext(ctx, program, "-bare")}
	c.command.Stderr = os.Stderr
	if c.asks, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = bufio.NewReaderSize(answers, 1<<20)
	return c, c.command.Start()
}

func (c *child) block(ids []string, inFlight int) (block, error) {
	if err := json.NewEncoder(c.asks).Encode(bareBlock{IDs: ids, InFlight: inFlight}); err != nil {
		return block{}, fmt.Errorf("the bare worker takes no block: %w", err)
	}
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return block{}, fmt.Errorf("the bare worker gives no answer: %w", err)
	}
	var a bareAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		return block{}, err
	}
	if a.Error != "" {
		return a.block, errors.New("bare: " + a.Error)
	}
	return a.block, nil
}

func (c *child) close() {
	_ = c.asks.Close()
	_ = c.command.Wait()
}
