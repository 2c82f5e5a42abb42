#!/usr/bin/env bash
# Builds Examples/PluginDemo in a scratch copy and looks at what each change of a schema makes the build do (S30 to S34).
# The copy lies at a path with blanks and letters beyond ASCII, and has a second target with schemas.
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
# Swift's driver compares the times of files in whole seconds: of two edits in one second, built one by one, it takes the
# second for no edit. So a build waits until the second is over in which the one before it ended.
build() {
    while [ "$(date +%s)" = "${ended:-}" ]; do sleep 0.05; done
    attempt build
    ended=$(date +%s)
}

# attempt <subcommand of swift> …
attempt() {
    local number
    for number in 1 2; do
        status=0
        swift "$1" --package-path "$demo" --build-system "$system" "${@:2}" >"$log" 2>&1 || status=$?
        [ "$status" -ge 128 ] || return 0
        say "  note  swift $1 was ended by signal $((status - 128)), attempt $number"
    done
}

built() { build && [ "$status" -eq 0 ]; }
refused() { build && [ "$status" -ne 0 ]; }
says() { grep -qF -- "$1" "$log"; }
silent() { ! grep -qF -- "$1" "$log"; }

# Files of a module with the times they were written at: generated Swift, and what it was compiled to.
outputs() { find "$demo/.build/plugins/outputs" -path "*$1*" -name '*.martlet.swift' -printf '%f %T@\n' | sort; }
objects() {
    find "$demo/.build/" -path "*$1*" \( -name '*.martlet*.o' -o -name 'Anchor*.o' \) -printf '%f %T@\n' |
        sed -E 's/(\.swift)?\.o / /' | sort
}
remember() {
    outputs ZooModels >"$scratch/outputs"
    objects ZooModels >"$scratch/objects"
    { outputs ShopModels; objects ShopModels; } >"$scratch/shop"
}
since() { "$1" ZooModels | comm -13 "$scratch/$1" - | cut -d' ' -f1 | tr '\n' ' '; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" >>"$log"; return 1; }; }
# What was written, and what was compiled, since `remember`.
wrote() { is "$(since outputs)" "$1"; }
compiled() { is "$(since objects)" "$1"; }
other_target_rests() { { outputs ShopModels; objects ShopModels; } | cmp -s "$scratch/shop" -; }

new_schema() {
    printf 'objects:\n  ## A visitor.\n  Visitor:\n    primaryKey: id\n    properties:\n      id: Int = 0\n' >"$1"
}

# A second target, with a folder of its own for schemas, one of them a link to a single file, and its own martlet.yaml.
add_shop() {
    local shop="$demo/Sources/Läden & Buden"
    mkdir -p "$shop/Waren"
    echo 'access: public' >"$demo/Schemas/Zoo/martlet.yaml"
    printf 'access: package\nnamespace: Store\n' >"$shop/martlet.yaml"
    printf 'objects:\n  ## What is sold.\n  Ware:\n    properties:\n      name: String = hay\n' >"$demo/Schemas/Ware.yaml"
    ln -s ../../../Schemas/Ware.yaml "$shop/Waren/Ware.yaml"
    printf 'objects:\n  ## Where it is sold.\n  Shop:\n    properties:\n      wares: List<Ware>\n' >"$shop/Shop.yaml"
    echo '// Makes the target exist.' >"$shop/Anchor.swift"
    sed -i 's|^        .executableTarget(|        .target(\
            name: "ShopModels", dependencies: [.product(name: "Martlet", package: "Martlet")],\
            path: "Sources/Läden \& Buden", plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),\
&|; s|dependencies: \["ZooModels", |&"ShopModels", |' "$demo/Package.swift"
    printf 'import Martlet\nimport ShopModels\n\nfunc stock() -> [String] { Store.Shop(wares: [Store.Ware()]).wares.map(\\.name) }\n' \
        >"$demo/Sources/PluginDemo/Stock.swift"
}

run_checks() {
    local schemas=$demo/Schemas/Zoo
    check "S30 a first build compiles the schemas of two targets, and modules that use them" built
    check "S30 one Swift file for each schema and the registry" \
        is "$(outputs ZooModels | cut -d' ' -f1 | tr '\n' ' ')" "Animal.martlet.swift Enclosure.martlet.swift MartletSchema.martlet.swift "
    check "S30 a link to a single file is a schema of its target" \
        is "$(outputs ShopModels | cut -d' ' -f1 | tr '\n' ' ')" "MartletSchema.martlet.swift Shop.martlet.swift Waren_Ware.martlet.swift "
    check "S7 each target has the access level and the namespace of its martlet.yaml" settings
    built # SwiftPM links the tool once more after a clean build

    remember
    check "S31 a build without changes succeeds" built
    check "S31 a build without changes runs nothing" silent "Martlet: schemas"
    check "S31 a build without changes compiles nothing" compiled ""

    touch "$schemas/Animal.yaml"
    check "S31 a touched file: builds" built
    check "S31 a touched file: writes nothing" wrote ""
    check "S31 a touched file: compiles nothing" compiled ""

    sed -i 's/What its keepers call it/What its keepers shout/' "$schemas/Animal.yaml"
    check "S31 edited documentation: builds" built
    check "S31 edited documentation: writes its own output" wrote "Animal.martlet.swift "
    if [ "$system" = native ]; then
        check "S20 edited documentation: compiles its own output" says "Compiling ZooModels Animal.martlet.swift"
    fi

    # An object file is written only where it differs, so the edit has to reach the machine code.
    remember
    sed -i 's/row: \[name, enclosure.name\]/row: [name, diet]/' "$schemas/Animal.yaml"
    check "S31 an edited key path: builds" built
    check "S31 an edited key path: writes its own output" wrote "Animal.martlet.swift "
    check "S20 an edited key path: compiles its own output and no other" compiled "Animal.martlet "
    check "S30 an edited key path: the other target is left alone" other_target_rests

    # What others see of the type has changed: Swift compiles the files that name it as well.
    remember
    sed -i 's/diet: Diet = both/diet: Diet = plants/' "$schemas/Animal.yaml"
    check "S31 an edited default: builds" built
    check "S31 an edited default: writes its own output" wrote "Animal.martlet.swift "

    remember
    new_schema "$schemas/Visitor.yaml"
    check "S31 an added file: builds" built
    check "S31 an added file: writes its output and the registry" wrote "MartletSchema.martlet.swift Visitor.martlet.swift "
    check "S30 an added file: the other target is left alone" other_target_rests

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
    check "S32 a broken file: says where, at the real file, what and the code" says_finding "$schemas/Animal.yaml" \
        Duoble 15 "error: unknown type 'Duoble'; did you mean 'Double'? [MRT0203]"
    check "S13 a broken file: writes nothing" wrote ""
    check "S32 a broken file: fails again" refused
    sed -i 's/weight: Duoble?/weight: Double?/' "$schemas/Animal.yaml"
    check "S31 a repaired file: builds" built
    check "S31 a repaired file: writes nothing" wrote ""
    check "S31 a repaired file: compiles nothing" compiled ""

    sed -i 's/= hay/= 5/; s/String/Itn/' "$demo/Schemas/Ware.yaml"
    check "S32 a broken file behind a link to it: fails" refused
    check "S32 a broken file behind a link to it: says where, at the real file" says_finding "$demo/Schemas/Ware.yaml" \
        Itn 13 "error: unknown type 'Itn'"
    sed -i 's/= 5/= hay/; s/Itn/String/' "$demo/Schemas/Ware.yaml"

    sed -i 's/public/pubic/' "$schemas/martlet.yaml"
    check "S32 a broken martlet.yaml: fails" refused
    check "S32 a broken martlet.yaml: says where" says_finding "$schemas/martlet.yaml" pubic 9 "error: 'access' is one of"
    sed -i 's/pubic/public/' "$schemas/martlet.yaml"
    check "S31 all repaired: builds" built
}

# says_finding FILE WORD COLUMN TEXT: one line of the log is `path:line:column: ` and the text.
says_finding() {
    local line
    line=$(grep -n -- "$2" "$1" | head -1 | cut -d: -f1)
    says "$1:$line:$3: $4"
}

settings() {
    grep -qrF 'nonisolated public final class Animal' "$demo/.build/plugins/outputs" &&
        grep -qrF 'nonisolated package final class Shop' "$demo/.build/plugins/outputs" &&
        grep -qrF 'nonisolated package enum Store {}' "$demo/.build/plugins/outputs" &&
        ! grep -qrF 'public enum Store' "$demo/.build/plugins/outputs"
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

    martlet generate Schemas/Zoo --output Sources/ZooModels/Generated || true
    check "S30 committed files beside the plugin: says so" refused_saying "which MartletPlugin writes as well; keep one"
    check "S30 committed files beside the plugin: says what to leave out" says "add 'exclude: [\"Schemas\"]' to the target"
    rm -r "$models/Generated"

    mv "$models/Anchor.swift" "$scratch/Anchor.swift"
    build
    # No plugin can say it better: SwiftPM leaves the target out before it asks one.
    check "S30 a target without Swift files: SwiftPM says so" says "Source files for target ZooModels should be located under"
    mv "$scratch/Anchor.swift" "$models/Anchor.swift"
}

martlet() {
    attempt package --allow-writing-to-package-directory martlet "$@"
    return "$status"
}

# The command plugin, for people who commit what is generated. Paths count from the package.
run_command() {
    local generated=$demo/Generated
    check "S34 generate writes the package's own files" martlet generate Schemas/Zoo --output Generated
    check "S34 generate --check is content with them" martlet generate --check Schemas/Zoo --output Generated
    sed -i 's/public var name/public var nom/' "$generated/Animal.martlet.swift"
    check "S34 generate --check fails when one was edited" not martlet generate --check Schemas/Zoo --output Generated
    check "S34 generate --check says which, and the difference" says_all \
        "Generated/Animal.martlet.swift:" "[MRT0005]" "-    public var nom" "+    public var name"
    rm -r "$generated"
    check "S34 lint is content with the schemas" martlet lint Schemas/Zoo --preset minimal
    sed -i 's/weight: Double?/weight: Duoble?/' "$demo/Schemas/Zoo/Animal.yaml"
    check "S34 lint fails where something is wrong" not martlet lint --format sarif Schemas/Zoo
    check "S34 lint --format reaches the tool" says '"ruleId": "MRT0203"'
    sed -i 's/weight: Duoble?/weight: Double?/' "$demo/Schemas/Zoo/Animal.yaml"
    cp -r "$demo/Schemas/Zoo" "$demo/Before"
    check "S34 breaking is content where nothing has changed" martlet breaking Schemas/Zoo --against ./Before
    sed -i '/weight: Double?/d' "$demo/Schemas/Zoo/Animal.yaml"
    check "S34 breaking finds a property that is gone" not martlet breaking Schemas/Zoo --against ./Before
    check "S34 breaking says which" says_all "[MRT0601]" "weight"
    cp "$demo/Before/Animal.yaml" "$demo/Schemas/Zoo/Animal.yaml"
    rm -r "$demo/Before"
    printf '\n\n' >>"$demo/Schemas/Zoo/Animal.yaml"
    check "S34 format --check names a file that would change" not martlet format --check Schemas/Zoo
    check "S34 format lays it out" martlet format Schemas/Zoo
    check "S34 format --check is content with that" martlet format --check Schemas/Zoo
    check "S34 init writes a first schema" martlet init Started
    check "S34 what init wrote has no findings" martlet lint Started
    rm -r "$demo/Started"
    check "S34 explain reaches the tool" martlet explain MRT0203
}

says_all() {
    local text
    for text in "$@"; do says "$text" || { echo "no '$text'" >>"$log"; return 1; }; done
}

not() { ! "$@"; }

refused_saying() { refused && says "$1"; }

for system in "${systems[@]}"; do
    say "$system:"
    copy="$scratch/Büro & Zoo $system"
    demo=$copy/Examples/PluginDemo
    log=$scratch/$system.log
    mkdir "$copy"
    copy
    add_shop
    run_checks
    run_mistakes
    run_command
done

if [ "$failures" -gt 0 ]; then
    say "$failures failed"
    exit 1
fi
say "all well"
