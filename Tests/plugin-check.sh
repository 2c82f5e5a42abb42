#!/usr/bin/env bash
# Builds Examples/PluginDemo in a scratch copy and checks what the build does after each change of a schema (S30 to
# S34). The path of the copy contains spaces and non-ASCII letters. A second target has schemas, too.
#
#   Tests/plugin-check.sh [native|swiftbuild]…     uses both build systems if none is named; KEEP=1 keeps the copy
#
# If EXAMPLES_BUILD_DIR is set, the native build system uses this build folder, in which 'make test' has already
# compiled the library. The copied package then depends on the library in the repository, and not on the copied library.
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

# check NAME COMMAND…: runs a check and prints one line.
check() {
    local name=$1
    shift
    if "$@"; then pass "$name"; else fail "$name"; fi
}

copy_repository() {
    mkdir -p "$demo"
    (cd "$root" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' f; do
        [ -e "$f" ] || [ -L "$f" ] && printf '%s\0' "$f"
    done | tar cf - --null -T -) | tar xf - -C "$copy"
}

# Sets `products` to the build folder, and `options` to the options that select this folder.
choose_build_folder() {
    products=$demo/.build
    options=()
    if [ "$system" = native ] && [ -n "${EXAMPLES_BUILD_DIR:-}" ]; then
        products=$EXAMPLES_BUILD_DIR
        # This is the setting of Scripts/lean. With another setting, the library would be compiled again.
        options=(--scratch-path "$products" -debug-info-format none)
        sed -i "s|path: \"../..\"|path: \"$root\"|" "$demo/Package.swift"
        rm -rf "$products/plugins/outputs/plugindemo" "$products"/*/*/{Zoo,Shop}Models.build
    fi
}

# The Swift driver compares modification times in whole seconds, and does not notice an edit in the same second as the
# previous build. So each build starts in a later second than the second in which the previous build ended.
build() {
    while [ "$(date +%s)" = "${ended:-}" ]; do sleep 0.05; done
    attempt build
    ended=$(date +%s)
}

# attempt <subcommand of swift> …: runs Swift. If a signal ends Swift, prints a note and runs Swift once more, because
# this script does not test crashes of the build system.
attempt() {
    local number
    for number in 1 2; do
        status=0
        swift "$1" --package-path "$demo" --build-system "$system" "${options[@]}" "${@:2}" >"$log" 2>&1 || status=$?
        [ "$status" -ge 128 ] || return 0
        say "  note  swift $1 was ended by signal $((status - 128)), attempt $number"
    done
}

built() { build && [ "$status" -eq 0 ]; }
fails() { build && [ "$status" -ne 0 ]; }
log_contains() { grep -qF -- "$1" "$log"; }
log_lacks() { ! grep -qF -- "$1" "$log"; }

# These functions print the generated Swift files and the object files of a module, with their modification times.
outputs() { find "$products/plugins/outputs" -path "*$1*" -name '*.martlet.swift' -printf '%f %T@\n' | sort; }
objects() {
    find "$products/" -path "*$1*" \( -name '*.martlet*.o' -o -name 'Anchor*.o' \) -printf '%f %T@\n' |
        sed -E 's/(\.swift)?\.o / /' | sort
}
remember() {
    outputs ZooModels >"$scratch/outputs"
    objects ZooModels >"$scratch/objects"
    { outputs ShopModels; objects ShopModels; } >"$scratch/shop"
}
changed() { "$1" ZooModels | comm -13 "$scratch/$1" - | cut -d' ' -f1 | tr '\n' ' '; }
equals() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" >>"$log"; return 1; }; }
# These functions compare the files that were written or compiled since `remember` with the expected files.
wrote() { equals "$(changed outputs)" "$1"; }
compiled() { equals "$(changed objects)" "$1"; }
other_target_unchanged() { { outputs ShopModels; objects ShopModels; } | cmp -s "$scratch/shop" -; }

new_schema() {
    printf 'objects:\n  ## A visitor.\n  Visitor:\n    primaryKey: id\n    properties:\n      id: Int = 0\n' >"$1"
}

# Adds a second target with its own schema folder, a schema that is a symbolic link, and its own martlet.yaml.
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
    check "a first build compiles the schemas of two targets, and modules that use them S30" built
    check "one Swift file for each schema and the registry S30" \
        equals "$(outputs ZooModels | cut -d' ' -f1 | tr '\n' ' ')" "Animal.martlet.swift Enclosure.martlet.swift MartletSchema.martlet.swift "
    check "a symbolic link to a file is a schema of its target S30" \
        equals "$(outputs ShopModels | cut -d' ' -f1 | tr '\n' ' ')" "MartletSchema.martlet.swift Shop.martlet.swift Waren_Ware.martlet.swift "
    check "each target has the access level and the namespace of its martlet.yaml S7" settings
    built # In the build after a clean build, SwiftPM links the tool again.

    remember
    check "a build without changes succeeds S31" built
    check "a build without changes runs nothing S31" log_lacks "Martlet: schemas"
    check "a build without changes compiles nothing S31" compiled ""

    touch "$schemas/Animal.yaml"
    check "a touched file: builds S31" built
    check "a touched file: writes nothing S31" wrote ""
    check "a touched file: compiles nothing S31" compiled ""

    sed -i 's/What its keepers call it/What its keepers shout/' "$schemas/Animal.yaml"
    check "edited documentation: builds S31" built
    check "edited documentation: writes its own output S31" wrote "Animal.martlet.swift "
    if [ "$system" = native ]; then
        check "edited documentation: compiles its own output S20" log_contains "Compiling ZooModels Animal.martlet.swift"
    fi

    # An object file is written only if it differs, so the edit has to change the machine code.
    remember
    sed -i 's/row: \[name, enclosure.name\]/row: [name, diet]/' "$schemas/Animal.yaml"
    check "an edited key path: builds S31" built
    check "an edited key path: writes its own output S31" wrote "Animal.martlet.swift "
    check "an edited key path: compiles its own output and no other S20" compiled "Animal.martlet "
    check "an edited key path: the other target is unchanged S30" other_target_unchanged

    # The interface of the type changes, so Swift also compiles the files that use the type. Therefore the script does
    # not check which files are compiled.
    remember
    sed -i 's/diet: Diet = both/diet: Diet = plants/' "$schemas/Animal.yaml"
    check "an edited default: builds S31" built
    check "an edited default: writes its own output S31" wrote "Animal.martlet.swift "

    remember
    new_schema "$schemas/Visitor.yaml"
    check "an added file: builds S31" built
    check "an added file: writes its output and the registry S31" wrote "MartletSchema.martlet.swift Visitor.martlet.swift "
    check "an added file: the other target is unchanged S30" other_target_unchanged

    remember
    mkdir -p "$schemas/Guests"
    mv "$schemas/Visitor.yaml" "$schemas/Guests/Guest.yaml"
    check "a renamed file: builds, with the type declared once S31" built
    check "a renamed file: writes its new output S31" wrote "Guests_Guest.martlet.swift "

    remember
    rm -r "$schemas/Guests"
    check "a removed file: builds S31" built
    check "a removed file: writes the registry S31" wrote "MartletSchema.martlet.swift "

    remember
    sed -i 's/weight: Double?/weight: Duoble?/' "$schemas/Animal.yaml"
    check "a broken file: fails S32" fails
    check "a broken file: reports the real file, position, message and code S32" reports_finding "$schemas/Animal.yaml" \
        Duoble 15 "error: unknown type 'Duoble'; did you mean 'Double'? [MRT0203]"
    check "a broken file: writes nothing S13" wrote ""
    check "a broken file: fails again S32" fails
    sed -i 's/weight: Duoble?/weight: Double?/' "$schemas/Animal.yaml"
    check "a repaired file: builds S31" built
    check "a repaired file: writes nothing S31" wrote ""
    check "a repaired file: compiles nothing S31" compiled ""

    sed -i 's/= hay/= 5/; s/String/Itn/' "$demo/Schemas/Ware.yaml"
    check "a broken file behind a link: fails S32" fails
    check "a broken file behind a link: reports the real file S32" reports_finding "$demo/Schemas/Ware.yaml" \
        Itn 13 "error: unknown type 'Itn'"
    sed -i 's/= 5/= hay/; s/Itn/String/' "$demo/Schemas/Ware.yaml"

    sed -i 's/public/pubic/' "$schemas/martlet.yaml"
    check "a broken martlet.yaml: fails S32" fails
    check "a broken martlet.yaml: reports the position S32" reports_finding "$schemas/martlet.yaml" pubic 9 "error: 'access' is one of"
    sed -i 's/pubic/public/' "$schemas/martlet.yaml"
    check "all repaired: builds S31" built
}

# reports_finding FILE WORD COLUMN TEXT: the log contains the line `path:line:column: ` and the text, at the first WORD.
reports_finding() {
    local line
    line=$(grep -n -- "$2" "$1" | head -1 | cut -d: -f1)
    log_contains "$1:$line:$3: $4"
}

settings() {
    grep -qrF 'nonisolated public final class Animal' "$products/plugins/outputs" &&
        grep -qrF 'nonisolated package final class Shop' "$products/plugins/outputs" &&
        grep -qrF 'nonisolated package enum Store {}' "$products/plugins/outputs" &&
        ! grep -qrF 'public enum Store' "$products/plugins/outputs"
}

# Checks mistakes in the package. Each mistake adds, removes or renames a file. Otherwise SwiftPM would not read the
# folder again.
run_mistakes() {
    local models=$demo/Sources/ZooModels
    rm "$models/Schemas"
    check "a target without schemas: is an error S30" fails_with "no schema in target 'ZooModels'"
    ln -s ../../Schemas/Zoo "$models/Schemas"

    new_schema "$demo/Schemas/Zoo/A_B.yaml"
    mkdir "$demo/Schemas/Zoo/A"
    new_schema "$demo/Schemas/Zoo/A/B.yaml"
    check "two paths with one output name: are an error S20" fails_with "would both be named 'A_B.martlet.swift'"
    rm -r "$demo/Schemas/Zoo/A" "$demo/Schemas/Zoo/A_B.yaml"

    martlet generate Schemas/Zoo --output Sources/ZooModels/Generated || true
    check "committed files and the plugin: are an error S30" fails_with "which MartletPlugin writes as well; keep one"
    check "committed files and the plugin: the error names the folder to exclude S30" log_contains "add 'exclude: [\"Schemas\"]' to the target"
    rm -r "$models/Generated"

    mv "$models/Anchor.swift" "$scratch/Anchor.swift"
    build
    # The plugin cannot report this mistake, because SwiftPM omits the target before it runs plugins.
    check "a target without Swift files: SwiftPM reports it S30" log_contains "Source files for target ZooModels should be located under"
    mv "$scratch/Anchor.swift" "$models/Anchor.swift"
}

martlet() {
    attempt package --allow-writing-to-package-directory martlet "$@"
    return "$status"
}

# Checks the command plugin, for users who commit generated code. Paths are relative to the package.
run_command() {
    local generated=$demo/Generated
    check "generate writes files of the package S34" martlet generate Schemas/Zoo --output Generated
    check "generate --check accepts the written files S34" martlet generate --check Schemas/Zoo --output Generated
    sed -i 's/public var name/public var nom/' "$generated/Animal.martlet.swift"
    check "generate --check fails if a file was edited S34" not martlet generate --check Schemas/Zoo --output Generated
    check "generate --check shows the edited file and the difference S34" log_contains_all \
        "Generated/Animal.martlet.swift:" "[MRT0005]" "-    public var nom" "+    public var name"
    rm -r "$generated"
    check "lint accepts the schemas S34" martlet lint Schemas/Zoo --preset minimal
    # The plugin passes the arguments of the other commands in the same way with every build system, so these commands
    # are checked with only one build system.
    [ "$system" = native ] || return 0
    sed -i 's/weight: Double?/weight: Duoble?/' "$demo/Schemas/Zoo/Animal.yaml"
    check "lint fails for a schema with errors S34" not martlet lint --format sarif Schemas/Zoo
    # SwiftPM may write its own error message into the middle of the output, so the check looks for short texts.
    check "lint passes --format to the tool S34" log_contains_all '"version": "2.1.0"' MRT0203
    sed -i 's/weight: Duoble?/weight: Double?/' "$demo/Schemas/Zoo/Animal.yaml"
    cp -r "$demo/Schemas/Zoo" "$demo/Before"
    check "breaking accepts an unchanged schema S34" martlet breaking Schemas/Zoo --against ./Before
    sed -i '/weight: Double?/d' "$demo/Schemas/Zoo/Animal.yaml"
    check "breaking finds a removed property S34" not martlet breaking Schemas/Zoo --against ./Before
    check "breaking names the removed property S34" log_contains_all "[MRT0601]" "weight"
    cp "$demo/Before/Animal.yaml" "$demo/Schemas/Zoo/Animal.yaml"
    rm -r "$demo/Before"
    printf '\n\n' >>"$demo/Schemas/Zoo/Animal.yaml"
    check "format --check names a file that would change S34" not martlet format --check Schemas/Zoo
    check "format changes the file S34" martlet format Schemas/Zoo
    check "format --check accepts the result S34" martlet format --check Schemas/Zoo
    check "init writes a first schema S34" martlet init Started
    check "the schema of init has no findings S34" martlet lint Started
    rm -r "$demo/Started"
    check "explain is passed to the tool S34" martlet explain MRT0203
}

log_contains_all() {
    local text
    for text in "$@"; do log_contains "$text" || { echo "no '$text'" >>"$log"; return 1; }; done
}

not() { ! "$@"; }

fails_with() { fails && log_contains "$1"; }

for system in "${systems[@]}"; do
    say "$system:"
    copy="$scratch/Büro & Zoo $system"
    demo=$copy/Examples/PluginDemo
    log=$scratch/$system.log
    mkdir "$copy"
    copy_repository
    choose_build_folder
    add_shop
    run_checks
    run_mistakes
    run_command
done

if [ "$failures" -gt 0 ]; then
    say "$failures failed"
    exit 1
fi
say "all passed"
