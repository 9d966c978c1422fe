# One command a purpose; each one installs what it lacks. `make help` lists them.
# The work is done by the scripts in scripts/, so that each of them can be read and run alone.

SHELL := bash
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## broker, simulated sensors, agent and dashboard on this machine; Ctrl-C ends it
	@bash scripts/demo.sh

page: ## serve web/dist as a static web server would, and the demo's block files at /data/, without an agent
	@bash scripts/page.sh

test: ## install what is missing, then every check and test there is; what continuous integration runs
	@bash scripts/test.sh

bench: ## print the figures of docs/benchmarks.md
	@bash scripts/bench.sh

soak: ## for hours: the store on a simulated medium, decoders, kills, full and failing disks; goes on where it stopped
	@bash scripts/soak.sh

web: ## build the dashboard and its engine into web/dist
	@bash scripts/setup.sh build
	@bash scripts/build-web.sh

fmt: ## format the Rust code
	@cargo fmt --all

.PHONY: help demo page test bench soak web fmt
