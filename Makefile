# ifcount: build, try, test, install. `make` alone lists the targets.

PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
SBINDIR = $(PREFIX)/sbin
UNITDIR = $(PREFIX)/lib/systemd/system
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d

# Where `build` leaves the programs, and from where `install` takes them.
RELEASE = .build/release
# For `watch`: which interfaces; none is the one of the default route.
IFACE =
# For `demo`, `churn` and `fuzz`: how long, the last for each fuzzer.
SECONDS = 60

# Where Swift is when it is not in PATH, and where Debian keeps ip(8), which a user's PATH may lack.
export PATH := $(PATH):/opt/swift/usr/bin:$(HOME)/.local/share/swiftly/bin:/usr/sbin:/sbin

SWIFT_FILES = $(wildcard Package.swift Sources Tests fuzz)
SHELL_FILES = .ci/run fuzz/run packaging/coverage packaging/install-deps packaging/test-install packaging/test-release
# A static Swift library and no symbols: an installed program needs no Swift and is as small as it gets.
RELEASE_FLAGS = -c release --static-swift-stdlib -Xlinker -s

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14
	@echo
	@echo 'Variables: IFACE (watch), SECONDS (demo, churn, fuzz), SEED (churn, soak), PREFIX, DESTDIR, BINDIR, SBINDIR, UNITDIR, SYSUSERSDIR (install).'

deps: ## install what building needs and is missing
	@packaging/install-deps build

deps-test: ## the same for testing
	@packaging/install-deps test

build: deps ## build ifcount and ifcountd, stripped, into .build/release
	swift build $(RELEASE_FLAGS) --product ifcount
	swift build $(RELEASE_FLAGS) --product ifcountd

watch: build ## build, then watch an interface live: make watch IFACE=wg0
	@$(RELEASE)/ifcount watch $(IFACE)

demo: deps ## watch a made-up tunnel that is recreated again and again
	swift build $(RELEASE_FLAGS) --product ifcount
	swift build $(RELEASE_FLAGS) --product ifcount-demo
	@$(RELEASE)/ifcount-demo --seconds $(SECONDS) -- $(RELEASE)/ifcount watch utun0

# Tests make real links in network namespaces of their own. Who is not root needs a user namespace for
# that; where the kernel forbids one, those tests skip themselves.
IN_NAMESPACE = unshare --user --map-root-user --net
TEST_ENVIRONMENT = LC_ALL=C.UTF-8 LOCPATH=$(CURDIR)/.build/locale PATH="$(CURDIR)/.build/venv/bin:$$PATH"

test: deps-test ## build for debugging and run all tests
	swift build --build-tests
	@enter=; \
	if [ "$$(id -u)" -ne 0 ]; then \
	    if $(IN_NAMESPACE) true 2>/dev/null; then \
	        enter='$(IN_NAMESPACE)'; \
	    else \
	        echo 'test: neither root nor allowed to make a user namespace: tests with real links are skipped'; \
	    fi; \
	fi; \
	$(TEST_ENVIRONMENT) $$enter swift test --skip-build --disable-xctest $(TEST_ARGUMENTS)

# Under a sanitizer each program takes more memory and time, and the tests of memory skip themselves.
LLD = -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld
test-address test-thread: test-%: deps-test
	swift build --quiet --build-tests --scratch-path .build/$* --sanitize=$* $(LLD)
	IFCOUNT_SANITIZED=$* ASAN_OPTIONS=detect_leaks=0 $(TEST_ENVIRONMENT) \
	    swift test --scratch-path .build/$* --skip-build --disable-xctest --sanitize=$* $(TEST_ARGUMENTS)

sanitize: test-address test-thread ## all tests under AddressSanitizer, then under ThreadSanitizer

coverage: deps-test ## which lines the tests run; fails where the rules, readers or the wire have less than 95 %
	swift build --quiet --build-tests --scratch-path .build/coverage --enable-code-coverage
	$(TEST_ENVIRONMENT) swift test --scratch-path .build/coverage --skip-build --disable-xctest --enable-code-coverage
	@packaging/coverage .build/coverage/debug

lint: ## formatting of Swift, syntax of shell
	swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	@for file in $(SHELL_FILES); do sh -n $$file || exit; done
	@if command -v shellcheck >/dev/null; then shellcheck $(SHELL_FILES); fi

test-install: ## install into a temporary folder, verify the units, uninstall
	@packaging/test-install

test-release: build ## run each command of the release build once: the optimiser is tested, too
	@packaging/test-release $(RELEASE)

# The daemon's release build, against real links; the same seed makes the same choices.
SEED =
CHURN = $(RELEASE)/ifcount-churn $(if $(SEED),--seed $(SEED))
$(RELEASE)/ifcount-churn: deps
	swift build -c release --product ifcount-churn

churn: build $(RELEASE)/ifcount-churn ## try to break the daemon with real links: make churn SECONDS=600 SEED=7
	@$(CHURN) --seconds $(SECONDS)

churn-quick: build $(RELEASE)/ifcount-churn ## the same for 20 seconds, with a seed that is always the same
	@$(RELEASE)/ifcount-churn --quick

soak: build $(RELEASE)/ifcount-churn ## 10,000 links recreated and 1,000 daemons started, and what the daemon takes meanwhile
	@$(CHURN) --soak

fuzz: deps ## fuzz what reads bytes from outside: make fuzz SECONDS=600
	@fuzz/run $(SECONDS)

check: lint test-install test-release test ## all of lint, test-install, test-release and test; a warning is an error

format: ## format the Swift sources in place
	swift format --in-place --parallel --recursive $(SWIFT_FILES)

install: ## install what `make build` built, under PREFIX (DESTDIR for packages)
	@test -x $(RELEASE)/ifcount && test -x $(RELEASE)/ifcountd || { echo 'install: run "make build" first' >&2; exit 1; }
	install -D -m 755 $(RELEASE)/ifcount $(DESTDIR)$(BINDIR)/ifcount
	install -D -m 755 $(RELEASE)/ifcountd $(DESTDIR)$(SBINDIR)/ifcountd
	install -D -m 644 systemd/ifcount.service $(DESTDIR)$(UNITDIR)/ifcount.service
	sed -i 's|^ExecStart=/usr/sbin/|ExecStart=$(SBINDIR)/|' $(DESTDIR)$(UNITDIR)/ifcount.service
	install -D -m 644 systemd/ifcount.socket $(DESTDIR)$(UNITDIR)/ifcount.socket
	install -D -m 644 systemd/ifcount.sysusers $(DESTDIR)$(SYSUSERSDIR)/ifcount.conf
	@test -n "$(DESTDIR)" || echo 'Start it, now and at every boot: systemd-sysusers && systemctl daemon-reload && systemctl enable --now ifcount.service'

uninstall: ## remove what install put there; the history in /var/lib/ifcount stays
	rm -f $(DESTDIR)$(BINDIR)/ifcount $(DESTDIR)$(SBINDIR)/ifcountd
	rm -f $(DESTDIR)$(UNITDIR)/ifcount.service $(DESTDIR)$(UNITDIR)/ifcount.socket
	rm -f $(DESTDIR)$(SYSUSERSDIR)/ifcount.conf

clean: ## remove all that was built
	rm -rf .build

# Swift's builds wait for each other anyway, and the tests' summary has to come last.
.NOTPARALLEL:
.PHONY: help deps deps-test build watch demo test test-address test-thread sanitize coverage lint test-install test-release churn churn-quick soak fuzz check format install uninstall clean
