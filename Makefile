# What make can do:
#
#   make quickstart                   install missing packages, build, and run the flights example on the bundled sample
#   make quickstart FLIGHTS=<folder>  run the flights example on the full data
#   make tour                         build and print the guided tour of Examples/Kennel
#   make check                        build and run the unit tests; run it after every edit
#   make test                         run all checks that a change must pass
#   make format                       format all Swift files
#   make generate                     generate Generated/ from Schemas/
#   make mistakes                     compile common mistakes and write Documentation/CompileTimeErrors.md
#   make pictures                     draw the pictures of the README in Documentation/Pictures
#   make docs                         build the documentation as a static site in .build/docs/site
#   make docs-check                   build the site, check its links, and check pages in a browser; writes screenshots
#   make bench                        compare Martlet with SQLite's C API and GRDB (ARGS="--quick" for a short run)
#   make bench-idioms                 measure everyday idioms at three sizes; fails where one grows too fast (ARGS="--only …")
#   make flights-verify FLIGHTS=<folder>  compare query results on the full data with those computed from the CSV files
#   make plugin-check                 build packages that use the plugin, with both build systems
#   make importer-check               build the importer of Realm models and run its tests
#   make durability                   test power cuts, kills and I/O faults at every operation (SEEDS=200)
#   make exact                        test random changes with random observers, with many seeds (SEEDS=20000, FIRST=1)
#   make chaos                        start processes that use one file, and kill them at random (KILLS=10000, SEED=…)
#   make exact-bugs                   check that 'make exact' finds each seeded bug, in a separate build (SEEDS=3000)
#   make schedules                    test random threads in random schedules (SEEDS=20000, FIRST=1)
#   make schedule-bugs                check that 'make schedules' finds each seeded race, in a separate build (SEEDS=3000)
#   make sync-bugs                    check that the simulation of synchronization finds each seeded bug, in a separate build
#   make bench-sync                   measure synchronization with a PostgreSQL server (FLIGHTS=<folder>, BENCH_SCALE=0.1)
#   make sync-cost                    measure the cost of the outbox of a synchronized file, in a separate build
#   make fuzz-schema                  fuzz the schema compiler with libFuzzer, in a separate build (SECONDS=60, or RUNS=…)
#   make postgres-check               test the SQL of 'martlet postgres' with random schemas and rules (COUNT=200, FIRST=1)
#   make bombs                        measure 'martlet' with inputs that are designed to be slow (ARGS="--only …")
#   make mutants                      change one condition or constant at a time; a test must fail each time (COUNT=200)
#   make sanitize                     run the tests with the thread sanitizer, in a separate build
#   make tsan                         repeat the concurrency tests with the thread sanitizer (TIMES=20)
#   make sync-demo                    synchronize flights between three clients and PostgreSQL (FLIGHTS=<folder>)
#   make sync-tests                   test the sync service with a PostgreSQL server, in a separate build (FIGURES=1)
#   make sync-crash                   kill clients, service and PostgreSQL at random, in the same build (SEEDS=200, FIRST=1)
#   make leaks                        look for leaks of memory, files and threads in typical work (SECONDS=1800)
#   make release-check                check that the repository is ready to be tagged
#   make clean                        remove all build folders
#
# Scripts/find-swift finds Swift 6.3 on PATH, or in one of the usual installation folders.

export PATH := $(PATH):$(shell Scripts/find-swift 2>/dev/null)

FLIGHTS ?=
ARGS ?=
FLIGHTS_SAMPLE = Examples/Flights/Data
# The optimizer takes most of the time of a release build. The sample is small, so it needs no optimized build.
FLIGHTS_DEMO = swift run -c $(if $(FLIGHTS),release,debug) --package-path Examples/Flights FlightsDemo

.PHONY: help quickstart tour check test format generate mistakes pictures docs docs-check mutants bench bench-idioms flights-verify plugin-check importer-check durability exact \
	chaos exact-bugs schedules schedule-bugs sync-bugs bench-sync sync-cost fuzz-schema bombs postgres-check sanitize tsan leaks \
	sync-demo sync-tests sync-crash clean packages packages-python toolchain \
	release-check

help:
	@sed -n '/^# What/,/^$$/s/^# \{0,1\}//p' Makefile

packages: toolchain
	@Scripts/install-packages

packages-python: toolchain
	@Scripts/install-packages python3

toolchain:
	@Scripts/find-swift >/dev/null

quickstart: packages
	$(FLIGHTS_DEMO) run "$(or $(FLIGHTS),$(FLIGHTS_SAMPLE))"

tour: packages
	@Examples/Kennel/run

check: packages
	@Scripts/check

test: packages-python
	@Scripts/install-packages postgresql libpq-dev pkg-config
	@Scripts/test

format:
	git ls-files -z --cached --others --exclude-standard '*.swift' | xargs -0 swift format format --in-place --parallel

generate: packages
	Scripts/generate

mistakes: packages-python
	swift build --target KennelModels
	swift build --target ConformanceModels
	Tests/mistakes-check.py --write

pictures: packages-python
	Scripts/make-pictures

docs: packages-python
	Scripts/make-docs $(ARGS)

docs-check: packages-python
	@Scripts/install-packages python3 chromium
	Scripts/make-docs --check $(ARGS)

bench: packages-python
	Benchmarks/run.py $(if $(FLIGHTS),--flights "$(FLIGHTS)") $(ARGS)

# The program measures each idiom in a process of its own. Its output lists the idioms that grow too fast.
bench-idioms: packages
	swift build -c release --package-path Benchmarks --product BenchIdioms
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/BenchIdioms" $(ARGS)

flights-verify: packages-python
	@test -n "$(FLIGHTS)" || { echo "make flights-verify needs the full data: FLIGHTS=<folder of CSV files>" >&2; exit 2; }
	@mkdir -p .build
	Scripts/flights-answers.py "$(FLIGHTS)" -o .build/flights-answers.json
	$(FLIGHTS_DEMO) verify "$(FLIGHTS)" --answers .build/flights-answers.json

plugin-check: packages
	Tests/plugin-check.sh

importer-check: packages
	Scripts/importer-check

durability: packages
	MARTLET_SWEEP=$(or $(SEEDS),200) swift test --filter DurabilityTests

# 'make exact', 'make chaos' and 'make schedules' run an optimized build with assertions and yield points
# (Documentation/Glossary.md). This build is about four times as fast as a debug build.
CAMPAIGN = MARTLET_TESTS=ExactTests,ScheduleTests,ChaosTests swift test -c release --scratch-path .build-campaigns \
	-Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug -Xswiftc -DDEBUG

exact: packages
	MARTLET_EXACT=$(or $(SEEDS),20000) MARTLET_EXACT_SEED=$(or $(FIRST),1) $(CAMPAIGN) --filter ExactTests

# A failed run keeps the file and the journals of all processes in .build/chaos and prints the path.
chaos: packages
	MARTLET_CHAOS=$(or $(KILLS),10000) $(if $(SEED),MARTLET_CHAOS_SEED=$(SEED)) $(CAMPAIGN) --filter ChaosTests

exact-bugs: packages
	SEEDS=$(SEEDS) Scripts/seeded-bugs exact $(BUGS)

schedules: packages
	MARTLET_SCHEDULES=$(or $(SEEDS),20000) MARTLET_SCHEDULES_SEED=$(or $(FIRST),1) MARTLET_PREEMPTIONS=2 \
		$(CAMPAIGN) --filter ScheduleTests

schedule-bugs: packages
	SEEDS=$(SEEDS) Scripts/seeded-bugs schedules $(BUGS)

sync-bugs: packages
	SEEDS=$(SEEDS) Scripts/seeded-bugs sync $(BUGS)

bench-sync: packages
	Scripts/install-packages postgresql libpq-dev openssl
	Benchmarks/Sync/run $(FLIGHTS) $(ARGS)

sync-cost: packages
	MARTLET_SYNC_COST=1 swift run -c release --scratch-path .build-cost SyncCost

# libFuzzer writes inputs that fail to .build-fuzz/finds. When the bug is fixed, add them to Tests/SchemaFuzzer/Corpus.
# libFuzzer keeps its generated inputs in .build-fuzz/corpus. The sanitizers require the linker lld.
FUZZ_BUILD = MARTLET_FUZZ=1 swift build -c release --product SchemaFuzzer --scratch-path .build-fuzz
FUZZ_FLAGS = --sanitize=address -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
FUZZ_LIMIT = $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(or $(SECONDS),60))

fuzz-schema: packages
	$(FUZZ_BUILD) $(FUZZ_FLAGS)
	@mkdir -p .build-fuzz/corpus .build-fuzz/finds
	ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no .build-fuzz/release/SchemaFuzzer $(FUZZ_LIMIT) \
		-max_len=1000 -timeout=20 -rss_limit_mb=3000 -dict=Tests/SchemaFuzzer/dictionary \
		-artifact_prefix=.build-fuzz/finds/ .build-fuzz/corpus Tests/SchemaFuzzer/Corpus

bombs: packages-python
	swift build -c release --product martlet
	Benchmarks/bombs.py "$$(swift build -c release --show-bin-path)/martlet" $(ARGS)

# Needs the package postgresql-15, or POSTGRES=<folder of the programs of PostgreSQL 15>.
postgres-check:
	swift build --product martlet
	MARTLET="$$(swift build --show-bin-path)/martlet" Tests/postgres-check.py rules $(or $(COUNT),200) $(or $(FIRST),1)
	MARTLET="$$(swift build --show-bin-path)/martlet" Tests/postgres-check.py migrations $(or $(COUNT),200) $(or $(FIRST),1)

# If a run was interrupted, the next run continues it. The folder .build-mutants contains the results.
mutants: packages-python
	Scripts/mutants $(if $(COUNT),--count $(COUNT)) $(ARGS)

# The run ends at the first race. The backtracer is disabled because it would repeat the report.
sanitize: packages
	TSAN_OPTIONS=halt_on_error=1 SWIFT_BACKTRACE=enable=no swift test --sanitize=thread --scratch-path .build-thread

# Threads behave differently in each run, so each test runs many times. The suppression file explains each false
# positive.
TSAN = swift test --sanitize=thread --scratch-path .build-tsan --filter 'RuntimeTests.(Freeze|Reference|AsyncWrite|Actor|PinnedVersion|ObservationStress|Delivery|WhileOpening)Tests'

tsan: packages
	swift build --build-tests --sanitize=thread --scratch-path .build-tsan
	for time in $$(seq $(or $(TIMES),20)); do \
		TSAN_OPTIONS="halt_on_error=1 suppressions=$(CURDIR)/Tests/thread-sanitizer.suppressions" \
			SWIFT_BACKTRACE=enable=no $(TSAN) --skip-build || exit 1; done

# The first run uses the normal build, and checks the resources of the process. The second run uses a build with a leak
# checker, which also finds small leaks.
LEAKS = MARTLET_TESTS=LeakTests MARTLET_LEAKS
LEAK_CHECKER = --sanitize=address --scratch-path .build-leaks -Xswiftc -use-ld=lld

leaks: packages
	$(LEAKS)=$(or $(SECONDS),1800) swift test --filter LeakTests
	$(LEAKS)=60 LSAN_OPTIONS="suppressions=$(CURDIR)/Tests/leak-sanitizer.suppressions:print_suppressions=0" \
		SWIFT_BACKTRACE=enable=no swift test $(LEAK_CHECKER) --filter LeakTests

sync-demo: packages
	@Scripts/install-packages postgresql libpq-dev pkg-config
	Scripts/sync-demo $(FLIGHTS)

# The tests start a PostgreSQL server in a temporary folder. FIGURES=1 also measures the costs of the triggers, and of
# the table martlet.log, which they write.
sync-tests: packages
	@Scripts/install-packages postgresql libpq-dev pkg-config
	$(if $(FIGURES),MARTLET_SYNC_FIGURES=1) Scripts/sync-tests

sync-crash: packages
	@Scripts/install-packages postgresql libpq-dev pkg-config
	MARTLET_SYNC_CRASH=$(or $(SEEDS),200) MARTLET_SYNC_CRASH_SEED=$(or $(FIRST),1) \
		Scripts/sync-tests --filter SystemCrashTests

release-check:
	@Scripts/release-check

clean:
	rm -rf .build .build-* Examples/*/.build Tools/*/.build Benchmarks/.build
