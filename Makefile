# The local stack is one program; it needs Go, and gets or names what else is missing.
DEV = go run ./internal/lab/stack/cmd

# The compiler collects no garbage before it holds a gigabyte, because that takes a third of its time.
COMPILING = GOGC=off GOMEMLIMIT=1GiB

# The tools of make check are pinned in a module of their own. The drivers of the clouds take minutes to compile, so only
# the test of the files has them.
TOOL = go tool -modfile=internal/lab/tools/checks/go.mod
CHECKED = -tags nocloud ./...

.DEFAULT_GOAL := help
.PHONY: help up demo check unit test bench soak services clean

help: ## these lines
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

up: .handover ## everything on this machine; buys one product, stays until Ctrl-C
	@$(DEV) up

demo: .handover ## the same, and ends when the order is delivered (JSON=1: the order as JSON)
	@JSON='$(JSON)' $(DEV) demo

check: ## formatting, vet, lint, workflowcheck, imports, words; needs no server
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not formatted, run gofmt -w on:"; echo "$$files"; exit 1; }
	$(COMPILING) go vet $(CHECKED)
	$(COMPILING) $(TOOL) staticcheck $(CHECKED)
	$(COMPILING) $(TOOL) workflowcheck -config internal/lab/tools/checks/workflowcheck.yaml ./workflows/...
	$(COMPILING) go test ./internal/lab/conventions ./internal/files

unit: ## the tests that need no server; the others are skipped
	go test ./...
	@echo "Tests that need a server were skipped: make test runs them."

test: .handover ## all tests on real servers (ARGS='-run Name ./internal/web': only those)
	@$(DEV) test $(ARGS)

bench: ## the cost beside a bare workflow, on servers of its own (JSON=1: one object)
	@JSON='$(JSON)' $(DEV) bench $(ARGS)

soak: ## N orders while everything around them is killed and fails, then checks the result (N=500 SEED=1 JSON=1)
	@N='$(N)' SEED='$(SEED)' JSON='$(JSON)' $(DEV) soak $(ARGS)

services: ## only Postgres and Temporal, for tests run by hand
	@$(DEV) services

clean: ## deletes the local stacks and their data
	@$(DEV) clean

# Before the first start: what the local stack's own program is made of.
.handover:
	@echo "compiling the local stack for the first time: about a minute on two cores …" >&2
	@$(COMPILING) go list -export -deps -f '{{/* nothing */}}' ./internal/lab/stack/cmd
	@mkdir -p .handover
