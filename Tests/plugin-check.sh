#!/usr/bin/env bash
# Builds Examples/PluginDemo in a scratch copy and looks at what each change of a schema makes the build do (S30 to S32).
#
#   Tests/plugin-check.sh [native|swiftbuild]…     both when none is named; KEEP=1 keeps the copy
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/martlet-plugin-check.XXXXXX")
trap '[ -n "${KEEP:-}" ] && echo "kept $scratch" || rm -rf "$scratch"' EXIT
systems=("$@")
[ ${#systems[@]} -gt 0 ] || systems=(native swiftbuild)
failures=0

say() { printf '%s\n' "$*"; }

pass() { say "  ok    $1"; }

fail() {
    say "  FAIL  $1"
    sed 's/^/        | /' "$log" | tail -25
    failures=$((failures + 1))
}

# check NAME COMMAND…: one line for each thing that must hold.
check() {
    local name=$1
    shift
    if "$@"; then pass "$name"; else fail "$name"; fi
}

copy() {
    mkdir -p "$demo"
    (cd "$root" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' f; do
        [ -e "$f" ] || [ -L "$f" ] && printf '%s\0' "$f"
    done | tar cf - --null -T -) | tar xf - -C "$copy"
}

# A build system that is ended by a signal is not what is looked at here: it gets a second try, and a line.
build() {
    local attempt
    for attempt in 1 2; do
        status=0
        swift build --package-path "$demo" --build-system "$system" >"$log" 2>&1 || status=$?
        [ "$status" -ge 128 ] || return 0
        say "  note  swift build was ended by signal $((status - 128)), attempt $attempt"
    done
}

built() { build && [ "$status" -eq 0 ]; }
refused() { build && [ "$status" -ne 0 ]; }
says() { grep -qF -- "$1" "$log"; }
silent() { ! grep -qF -- "$1" "$log"; }
compiled() { grep -qE "Compiling ZooModels .*$1\.martlet\.swift" "$log"; }
spared() { ! compiled "$1"; }
is_native() { [ "$system" = native ]; }

outputs() { find "$demo/.build/plugins/outputs" -path "*ZooModels*" -name '*.martlet.swift' -printf '%f %T@\n' | sort; }
remember() { outputs >"$scratch/before"; }
# The generated files that were written since `remember`, one line.
written() { outputs | comm -13 "$scratch/before" - | cut -d' ' -f1 | tr '\n' ' '; }
wrote() { [ "$(written)" = "$1" ]; }

new_schema() {
    printf 'objects:\n  ## A visitor.\n  Visitor:\n    primaryKey: id\n    properties:\n      id: Int = 0\n' >"$1"
}

run_checks() {
    local schemas=$demo/Schemas/Zoo
    check "S30 a first build compiles the schemas" built
    check "S30 one Swift file for each schema and the registry" \
        test "$(outputs | cut -d' ' -f1 | tr '\n' ' ')" = "Animal.martlet.swift Enclosure.martlet.swift MartletSchema.martlet.swift "
    built # SwiftPM links the tool once more after a clean build

    remember
    check "S31 a build without changes succeeds" built
    check "S31 a build without changes runs nothing" silent "Martlet: schemas"
    check "S31 a build without changes compiles nothing" silent "Compiling ZooModels"

    touch "$schemas/Animal.yaml"
    check "S31 a touched file: builds" built
    check "S31 a touched file: writes nothing" wrote ""
    check "S31 a touched file: compiles nothing" silent "Compiling ZooModels"

    sed -i 's/What its keepers call it/What its keepers shout/' "$schemas/Animal.yaml"
    check "S31 edited documentation: builds" built
    check "S31 edited documentation: writes its own output" wrote "Animal.martlet.swift "
    if is_native; then
        check "S20 edited documentation: compiles its own output" compiled Animal
        check "S20 edited documentation: compiles no other" spared "(Enclosure|MartletSchema)"
    fi

    # What others see of the type has changed: Swift compiles the files that name it as well.
    remember
    sed -i 's/diet: Diet = both/diet: Diet = plants/' "$schemas/Animal.yaml"
    check "S31 an edited default: builds" built
    check "S31 an edited default: writes its own output" wrote "Animal.martlet.swift "

    remember
    new_schema "$schemas/Visitor.yaml"
    check "S31 an added file: builds" built
    check "S31 an added file: writes its output and the registry" wrote "MartletSchema.martlet.swift Visitor.martlet.swift "

    remember
    mkdir -p "$schemas/Guests"
    mv "$schemas/Visitor.yaml" "$schemas/Guests/Guest.yaml"
    check "S31 a renamed file: builds, with the type declared once" built
    check "S31 a renamed file: writes its new output" wrote "Guests_Guest.martlet.swift "

    remember
    rm -r "$schemas/Guests"
    check "S31 a removed file: builds" built
    check "S31 a removed file: writes the registry" wrote "MartletSchema.martlet.swift "

    remember
    sed -i 's/weight: Double?/weight: Duoble?/' "$schemas/Animal.yaml"
    check "S32 a broken file: fails" refused
    local line
    line=$(grep -n Duoble "$schemas/Animal.yaml" | cut -d: -f1)
    check "S32 a broken file: says where, at the real file" \
        says "Schemas/Zoo/Animal.yaml:$line:15: error: unknown type 'Duoble'"
    check "S32 a broken file: says the code" says "[MRT0203]"
    check "S13 a broken file: writes nothing" wrote ""
    check "S32 a broken file: fails again" refused
    sed -i 's/weight: Duoble?/weight: Double?/' "$schemas/Animal.yaml"
    check "S31 a repaired file: builds" built
    check "S31 a repaired file: writes nothing" wrote ""
}

# Mistakes of the package's author. The folder is looked at anew only when its structure changes.
run_mistakes() {
    local models=$demo/Sources/ZooModels
    rm "$models/Schemas"
    check "S30 a target without schemas: says so" refused_saying "no schema in target 'ZooModels'"
    ln -s ../../Schemas/Zoo "$models/Schemas"

    new_schema "$demo/Schemas/Zoo/A_B.yaml"
    mkdir "$demo/Schemas/Zoo/A"
    new_schema "$demo/Schemas/Zoo/A/B.yaml"
    check "S20 two paths with one output name: says so" refused_saying "would both become 'A_B.martlet.swift'"
    rm -r "$demo/Schemas/Zoo/A" "$demo/Schemas/Zoo/A_B.yaml"

    mv "$models/Anchor.swift" "$scratch/Anchor.swift"
    build
    # No plugin can say it better: SwiftPM leaves the target out before it asks one.
    check "S30 a target without Swift files: SwiftPM says so" says "Source files for target ZooModels should be located under"
    mv "$scratch/Anchor.swift" "$models/Anchor.swift"
}

martlet() {
    swift package --package-path "$demo" --allow-writing-to-package-directory martlet "$@" >"$log" 2>&1
}

# The command plugin, for people who commit what is generated.
run_command() {
    local generated=$demo/Generated
    check "S34 generate writes the package's own files" martlet generate Schemas/Zoo --output "$generated"
    check "S34 generate --check is content with them" martlet generate --check Schemas/Zoo --output "$generated"
    printf '// edited\n' >>"$generated/Animal.martlet.swift"
    check "S34 generate --check fails when one was edited" \
        not martlet generate --check Schemas/Zoo --output "$generated"
    check "S34 and says which" says "Animal.martlet.swift"
    rm -r "$generated"
}

not() { ! "$@"; }

refused_saying() { refused && says "$1"; }

for system in "${systems[@]}"; do
    say "$system:"
    copy=$scratch/$system
    demo=$copy/Examples/PluginDemo
    log=$scratch/$system.log
    copy
    run_checks
    run_mistakes
    if is_native; then run_command; fi
done

if [ "$failures" -gt 0 ]; then
    say "$failures failed"
    exit 1
fi
say "all well"
