# Everything here is one program; it needs Go, and gets or names what else is missing.
DEV = go run ./internal/lab/stack/cmd

.DEFAULT_GOAL := help
.PHONY: help up demo test bench soak services clean

help: ## these lines
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

up: ## everything on this machine; buys one product, stays until Ctrl-C
	@$(DEV) up

demo: ## the same, and ends when the order is delivered (JSON=1: the order as JSON)
	@JSON='$(JSON)' $(DEV) demo

test: ## all checks and tests on real servers (ARGS='-run Name ./internal/web': only those)
	@$(DEV) test $(ARGS)

bench: ## the cost beside a bare workflow, on servers of its own (JSON=1: one object)
	@JSON='$(JSON)' $(DEV) bench $(ARGS)

soak: ## N orders while everything around them is killed and fails, then judges (N=500 SEED=1 JSON=1)
	@N='$(N)' SEED='$(SEED)' JSON='$(JSON)' $(DEV) soak $(ARGS)

services: ## only Postgres and Temporal, for tests run by hand
	@$(DEV) services

clean: ## deletes the local stacks and their data
	@$(DEV) clean
