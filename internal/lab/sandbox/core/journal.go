package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Entries registers a kind of journal entry with how one is made true, now and again after a restart. The function it
// returns writes an entry and then makes it true: what was answered is never forgotten. Its caller holds the lock.
func Entries[T any](c *Core, kind string, apply func(T)) (record func(T) error) {
	c.kinds[kind] = func(text []byte) error {
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		apply(v)
		return nil
	}
	return func(v T) error {
		if err := c.journal.append(map[string]any{kind: v}); err != nil {
			return fmt.Errorf("sandbox journal: %w", err)
		}
		apply(v)
		c.Changed()
		return nil
	}
}

// Restore reads the journal back, where there is one, and keeps it from now on.
func (c *Core) Restore() error {
	if c.Journal == "" {
		return nil
	}
	file, lines, err := openJournal(c.Journal)
	if err != nil {
		return fmt.Errorf("sandbox journal: %w", err)
	}
	for n, line := range lines {
		if err := c.restore(line); err != nil {
			_ = file.Close()
			return fmt.Errorf("sandbox journal: %s line %d is damaged: remove the file to start afresh: %w", c.Journal, n+1, err)
		}
	}
	c.journal = &journal{file}
	return nil
}

func (c *Core) restore(line []byte) error {
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(line, &entry); err != nil {
		return err
	}
	for kind, text := range entry {
		apply, known := c.kinds[kind]
		if !known {
			return fmt.Errorf("unknown entry %q", kind)
		}
		if err := apply(text); err != nil {
			return err
		}
	}
	return nil
}

// journal is an append-only file of JSON lines. A nil journal keeps nothing.
type journal struct{ file *os.File }

// openJournal reads what an earlier process wrote. A last line without its end was never answered for, so it is cut
// off; anything else that cannot be read is an error, because a test must not guess.
func openJournal(path string) (*os.File, [][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	if len(whole) == 0 {
		return file, nil, nil
	}
	return file, bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")), nil
}

// append hands one line to the operating system. That survives a kill of the process, which is all that is promised.
func (j *journal) append(entry any) error {
	if j == nil {
		return nil
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
