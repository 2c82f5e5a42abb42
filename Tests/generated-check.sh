#!/usr/bin/env bash
# Compiles generated code with the compiler options of users, and with warnings as errors. Checks the output of the
# compiler and of programs.
#
#   Tests/generated-check.sh [modes|names|values|messages|queries|confinement|articles|readme]…
#                                       runs all parts if none is named
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/.build}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/martlet-generated-check.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(modes names values messages queries confinement articles readme)
jobs=$(getconf _NPROCESSORS_ONLN)
[ "$jobs" -le 4 ] || jobs=4

cd "$root"
swift build --scratch-path "$build" --product MartletGenerator >/dev/null
swift build --scratch-path "$build" --product martlet >/dev/null
swift build --scratch-path "$build" --target MartletCombine >/dev/null
binaries=$(swift build --scratch-path "$build" --show-bin-path)

modules=(-I "$binaries/Modules")
for map in Sources/*/module.modulemap "$build"/checkouts/OpenCombine/Sources/COpenCombineHelpers/include/module.modulemap \
    "$binaries"/*.build/module.modulemap; do
    [ -e "$map" ] && modules+=(-Xcc "-fmodule-map-file=$map" -Xcc "-I$(dirname "$map")")
done
models=(-parse-as-library -module-name Models -package-name models)

swift_5=(-swift-version 5)
swift_6=(-swift-version 6)
main_actor=(-swift-version 6 -default-isolation MainActor)
upcoming=(-swift-version 6 -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault)

# A source file of the user in the module of the generated files, with ordinary imports.
cat >"$scratch/User.swift" <<'SWIFT'
import Foundation
import Martlet

func use(_ realm: Realm, since date: Date) {}
SWIFT

# A source file of the user in a module with a namespace. It also uses a type of Swift with the name of a generated
# type.
cat >"$scratch/NamespaceUser.swift" <<'SWIFT'
import Foundation
import Martlet

func use(_ realm: Realm, since date: Date) -> Task<Int, Never> { Task { 7 } }
func urgent(_ tasks: Results<Kennel.Task>) -> Results<Kennel.Task> { tasks.where { $0.priority > 2 } }
SWIFT

ok() { printf '  ok    %s\n' "$1"; }

# fail NAME LOG: prints a failure, and records it in a file, because checks run in parallel.
fail() {
    printf '  FAIL  %s\n' "$1"
    { grep -E '^[^ ].*(error|warning):' "$2" || cat "$2"; } | head -10 | cut -c 1-300
    echo "$1" >>"$scratch/failures"
}

# holds NAME COMMAND…: runs a check and prints one line.
holds() {
    local name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then ok "$name"; else fail "$name" "$scratch/log"; fi
}

# Waits until fewer than $jobs checks run.
wait_for_processor() {
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
}

# compiles NAME OPTION… FILE…: checks that the files compile without warnings.
compiles() {
    local name=$1 log
    log=$(mktemp "$scratch/log.XXXXXX")
    shift
    if swiftc -typecheck "${models[@]}" -warnings-as-errors "${modules[@]}" "$@" >"$log" 2>&1; then
        ok "$name"
    else
        fail "$name" "$log"
    fi
}

# generate SCHEMA OUTPUT [ACCESS [NAMESPACE]]: generates the Swift files of a schema folder.
generate() {
    mkdir -p "$2"
    printf 'access: %s\nnamespace: %s\n' "${3:-public}" "${4:-}" >"$2/martlet.yaml"
    find "$1" -name '*.yaml' ! -name martlet.yaml -print0 | xargs -0 \
        "$binaries/MartletGenerator" --output "$2" --root "$1" --config "$2/martlet.yaml" --
}

# write_reference FOLDER: writes the correct examples of the schema reference, which form one schema.
write_reference() {
    mkdir "$1"
    awk -v folder="$1" '
        /^```yaml$/ { number++; file = folder "/Example" number ".yaml"; next }
        /^```/ || (file && /^# (wrong:|martlet\.yaml)/) { file = "" }
        file { print >file }' Documentation/SchemaReference.md
}

# modes_of SCHEMA ACCESS: prints the modes in which the schema is compiled. The conformance schema contains every
# feature, so it is compiled with each access level in each mode. For the other schemas, the access level affects only
# imports, so 'package' and 'internal' are compiled in one mode.
modes_of() {
    if [[ $1 != Conformance && $2 != public ]]; then echo upcoming; else echo swift_5 swift_6 main_actor upcoming; fi
}

check_modes() {
    local schema access folder
    echo "modes:"
    write_reference "$scratch/Reference"
    for schema in Schemas/* "$scratch/Reference"; do
        for access in public package internal; do
            folder=$scratch/${schema##*/}-$access
            generate "$schema" "$folder" "$access"
            for mode in $(modes_of "${schema##*/}" "$access"); do
                local -n options=$mode
                wait_for_processor
                compiles "${schema##*/} $access: $mode S22" "${options[@]}" "$folder"/*.swift "$scratch/User.swift" &
            done
        done
    done
    for access in public package internal; do
        folder=$scratch/namespace-$access
        generate Schemas/Kennel "$folder" "$access" Kennel
        for mode in $(modes_of Kennel "$access"); do
            local -n options=$mode
            wait_for_processor
            compiles "Kennel in a namespace $access: $mode S7 S22" "${options[@]}" "$folder"/*.swift \
                "$scratch/NamespaceUser.swift" &
        done
    done
    wait
}

# symbol_graph MODULE FOLDER [OPTION]…: extracts the symbol graph of a module.
symbol_graph() {
    local module=$1 folder=$2
    shift 2
    swift symbolgraph-extract -module-name "$module" "${modules[@]}" -minimum-access-level public "$@" \
        -target "$(swiftc -print-target-info | sed -nE 's/.*"unversionedTriple": "([^"]*)".*/\1/p')" -output-dir "$folder"
}

# Checks names that could conflict with other names, in every place where a schema has a name. Each name must compile
# or be rejected at its location.
check_names() {
    local folder name file
    echo "names:"
    mkdir "$scratch/graph"
    symbol_graph Martlet "$scratch/graph" -include-spi-symbols
    holds "invalid names are rejected at their location, including all members of the runtime S14 MRT0402" \
        Tests/Hostile/names.py "$binaries/martlet" "$scratch/graph/Martlet.symbols.json" "$scratch/names"
    for folder in "$scratch"/names/*/; do
        name=$(basename "$folder")
        generate "$folder" "$scratch/names-out/$name"
        for mode in swift_5 main_actor; do
            # Schemas that test type names take more than half of the time. Their code does not depend on the mode, so
            # one mode is enough.
            [[ $mode = swift_5 && $name = *-types-0 ]] && continue
            local -n options=$mode
            wait_for_processor
            compiles "$name: $mode S14 S22" "${options[@]}" "$scratch/names-out/$name"/*.swift &
        done
    done
    wait
    # The namespaces have the names of types in generated code, the runtime or Swift. One module contains all of them.
    for name in Object EmbeddedObject List Map Field FieldPath Projection Element Key Value Storage Class Optional Array Set \
        Sendable Models Space; do
        folder=$scratch/spaces/$name
        generate Tests/Hostile "$folder" public "$name"
        for file in "$folder"/*.swift; do mv "$file" "$folder/$name-${file##*/}"; done
    done
    compiles "namespaces named like other types S7 S14 S22" "${main_actor[@]}" "$scratch"/spaces/*/*.swift
}

# Prints the object files of the runtime, which are linked into a program.
runtime_objects() {
    find "$binaries"/{Martlet,MartletEngine,MartletValues,MartletSQLite,CMartletRuntime,CMartletColumns,CMartletLogVFS,CMartletMemoryVFS}.build -name '*.o'
}

# Checks that compiled code contains the texts of the schema unchanged.
check_values() {
    local folder=$scratch/values objects
    echo "values:"
    Tests/Hostile/values.py schema "$folder"
    generate "$folder/Schemas" "$folder/out"
    objects=$(runtime_objects)
    mkdir "$folder/graph"
    holds "texts with special characters compile without warnings S14" swiftc "${models[@]}" -warnings-as-errors "${modules[@]}" \
        "${swift_6[@]}" -emit-module -emit-module-path "$folder/Models.swiftmodule" -emit-symbol-graph \
        -emit-symbol-graph-dir "$folder/graph" "$folder"/out/*.swift
    holds "documentation and deprecations are the texts of the schema S14" \
        Tests/Hostile/values.py symbols "$folder/graph/Models.symbols.json"
    # shellcheck disable=SC2086
    holds "a program that compares its values with the texts compiles S14" swiftc -module-name Models "${modules[@]}" \
        "${swift_6[@]}" "$folder"/out/*.swift "$folder/main.swift" $objects -lsqlite3 -o "$folder/program"
    holds "defaults and raw values are the texts of the schema S14" "$folder/program"
    mkdir "$folder/own"
    cp Tests/Hostile/OwnTypeNames.yaml "$folder/own"
    generate "$folder/own" "$folder/own-out"
    cp Tests/Hostile/OwnTypeNames.swift "$folder/own-out/main.swift"
    # shellcheck disable=SC2086
    holds "a program that uses members named like types compiles S14 S21" swiftc -module-name Models "${modules[@]}" \
        "${swift_6[@]}" "$folder"/own-out/*.swift $objects -lsqlite3 -o "$folder/own-program"
    holds "members named like types refer to the right declarations S14 S21" "$folder/own-program"
    mkdir "$folder/space"
    cp Tests/Hostile/Space.yaml "$folder/space"
    generate "$folder/space" "$folder/space-out" public Space
    cp Tests/Hostile/Space.swift "$folder/space-out/main.swift"
    # The module has the name of the namespace, too.
    # shellcheck disable=SC2086
    holds "a program that uses members and a module named like the namespace compiles S7 S14" swiftc \
        -module-name Space "${modules[@]}" "${swift_6[@]}" "$folder"/space-out/*.swift $objects -lsqlite3 \
        -o "$folder/space-program"
    holds "members named like the namespace refer to the right declarations S7 S14 S21" "$folder/space-program"
    swiftc -typecheck "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$folder"/out/*.swift "$folder/User.swift" \
        >"$folder/warnings" 2>&1 || true
    holds "only uses of deprecated properties warn, with the text of the schema S22" \
        Tests/Hostile/values.py warnings "$folder/warnings"
}

# fails_with NAME TEXT FILE…: checks that compiling the files fails with exactly one error, which contains the text.
fails_with() {
    local name=$1 text=$2 log=$scratch/message
    shift 2
    if swiftc -typecheck "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$@" >"$log" 2>&1 ||
        [ "$(grep -cE '^/.*: error: ' "$log")" -ne 1 ] || ! grep -E '^/.*: error: ' "$log" | grep -qF -- "$text"; then
        fail "$name" "$log"
    else
        ok "$name"
    fi
}

check_messages() {
    local kind folder=$scratch/messages
    echo "messages:"
    generate Schemas/Kennel "$folder"
    while IFS='|' read -r kind text; do
        printf 'import Martlet\nfunc send<Value: Sendable>(_ value: Value) {}\nfunc use(_ value: %s) { send(value) }\n' \
            "$kind" >"$scratch/Send.swift"
        fails_with "'$kind' is not Sendable, and the error names an alternative S22" "$text" "$folder"/*.swift "$scratch/Send.swift"
    done <<'KINDS'
Dog|stay on their Realm's thread, queue or actor; pass a primary key and look the object up
Address|stay on their Realm's thread, queue or actor; pass a primary key and look the object up
PersonProjection|stays on its Realm's thread, queue or actor; pass the object's primary key and project it again
Results<Dog>|stay on their Realm's thread, queue or actor; elsewhere, open a Realm and query it
List<Dog>|stays on its Realm's thread, queue or actor; pass its values or its owner's primary key
MutableSet<String>|stays on its Realm's thread, queue or actor; pass its values or its owner's primary key
Map<Double>|stays on its Realm's thread, queue or actor; pass its values or its owner's primary key
LinkingObjects<Dog>|stays on its Realm's thread, queue or actor; pass its values or its owner's primary key
ProjectedCollection<String>|stays on its Realm's thread, queue or actor; pass its values or its owner's primary key
ProjectedResults<PersonProjection>|stay on their Realm's thread, queue or actor; elsewhere, open a Realm and query it
Realm|stays on its thread, queue or actor; elsewhere, open another Realm with the same configuration
KINDS
    sed -i 's/GeneratedCodeFormat[0-9]*/GeneratedCodeFormat0/' "$folder/MartletSchema.martlet.swift"
    fails_with "a generated file of an older version causes one error with instructions S23" \
        "generated for an older version of Martlet; generate it again" "$folder"/*.swift
    sed -i 's/GeneratedCodeFormat[0-9]*/GeneratedCodeFormat99/' "$folder/MartletSchema.martlet.swift"
    fails_with "a generated file of a newer version causes one error S23" "'GeneratedCodeFormat99'" "$folder"/*.swift
}

# Checks that valid typed queries compile, and that each line with an invalid query is an error.
check_queries() {
    local folder=$scratch/queries wrong=$scratch/WrongQueries.swift
    echo "queries:"
    generate Schemas/Kennel "$folder"
    compiles "typed queries compile, without warnings O50" "${swift_6[@]}" "$folder"/*.swift Tests/Queries/Valid.swift
    sed -n '/^func /p' Tests/Queries/Invalid.swift | grep -c . >"$scratch/expected"
    { echo 'import Martlet'; sed '1,/^import/d' Tests/Queries/Invalid.swift; } >"$wrong"
    swiftc -typecheck "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$folder"/*.swift "$wrong" >"$scratch/log" 2>&1 || true
    grep -nE '^func ' "$wrong" | cut -d: -f1 | sort -n >"$scratch/lines"
    sed -nE "s|^$wrong:([0-9]+):[0-9]+: error: .*|\\1|p" "$scratch/log" | sort -nu >"$scratch/refused"
    holds "each of $(cat "$scratch/expected") invalid queries does not compile O50" diff "$scratch/lines" "$scratch/refused"
}

# generate_classes SCHEMA OUTPUT: generates code without the registry file, because 'flows' cannot compile the constants
# that the registry file stores in a linker section.
generate_classes() {
    generate "$1" "$2"
    rm "$2/MartletSchema.martlet.swift"
}

# flows NAME OPTION… FILE…: compiles to SIL, including the region analysis that finds data races.
flows() {
    local name=$1
    shift
    holds "$name" swiftc -emit-sil -o /dev/null -wmo "${models[@]}" -warnings-as-errors "${modules[@]}" "$@"
}

# write_rejected_lines FILE OUT MODE…: writes the numbers of the lines that the compiler rejects because of isolation.
write_rejected_lines() {
    local file=$1 out=$2
    shift 2
    swiftc "$@" -wmo "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$scratch/confinement"/*.swift "$file" \
        >"$scratch/log" 2>&1 || true
    sed -nE "s/^${file//\//\\/}:([0-9]+):.* error: .*(Sendable|data race).*/\1/p" "$scratch/log" | sort -nu >"$out"
}

# Checks uses of live objects in other isolation domains: correct code compiles, and each incorrect line is an error.
check_confinement() {
    local wrong=$scratch/Wrong.swift
    echo "confinement:"
    generate_classes Schemas/Kennel "$scratch/confinement"
    flows "correct transfers between isolation domains compile without warnings O1 N125 N129" "${swift_6[@]}" \
        "$scratch/confinement"/*.swift Tests/Isolation/Valid.swift
    grep -nE '^func ' Tests/Isolation/Invalid.swift | cut -d: -f1 >"$scratch/lines"
    cp Tests/Isolation/Invalid.swift "$wrong"
    write_rejected_lines "$wrong" "$scratch/by-type" -typecheck
    # The region analysis runs only if type checking succeeds, so lines that fail type checking are replaced by empty
    # lines.
    awk 'NR == FNR { refused[$1]; next } { print FNR in refused ? "" : $0 }' "$scratch/by-type" "$wrong" >"$scratch/Flow.swift"
    write_rejected_lines "$scratch/Flow.swift" "$scratch/by-flow" -emit-sil -o /dev/null
    sort -n "$scratch/by-type" "$scratch/by-flow" >"$scratch/refused"
    holds "each of $(wc -l <"$scratch/lines") transfers of live objects out of their isolation does not compile O1" \
        diff "$scratch/lines" "$scratch/refused"
}

# Checks that the examples of the articles compile, each in a separate function. Runs the examples that print something,
# and compares their output with the expected output. To update the expected output:
# UPDATE=1 Tests/generated-check.sh articles
check_articles() {
    local article name folder=$scratch/articles
    echo "articles:"
    generate_classes Schemas/Kennel "$folder"
    for article in Sources/Martlet/Martlet.docc/*.md; do
        name=$(basename "$article" .md)
        example_functions "$name" '' "$article" >"$folder/Article$name.swift"
    done
    # The generated array contains the name and the function of each example that prints something.
    {
        printf 'import Martlet\n\nnonisolated(unsafe) let examples: [(String, (Realm, Results<Dog>, Dog) throws -> Void)] = [\n'
        awk '/^func [A-Z]/ { name = $2; sub(/\(.*/, "", name) } /print\(/ && name !~ /NotRun$/ && !done[name]++ { printf "    (\"%s\", %s),\n", name, name }' \
            "$folder"/Article*.swift
        printf ']\n'
    } >"$folder/Examples.swift"
    flows "examples of the articles" "${swift_6[@]}" "$folder"/*.swift
    generate Schemas/Kennel "$scratch/articles-registry"
    # shellcheck disable=SC2046
    holds "a program that runs the examples compiles" swiftc -parse-as-library -module-name Models -package-name models \
        "${modules[@]}" "${swift_6[@]}" "$folder"/*.swift "$scratch/articles-registry/MartletSchema.martlet.swift" \
        Tests/Articles/Main.swift $(runtime_objects) -lsqlite3 \
        -o "$folder/program"
    mkdir -p "$folder/files"
    # With deterministic hashing, dictionaries have the same order in each run.
    HOME=$folder/files XDG_DATA_HOME=$folder/files SWIFT_DETERMINISTIC_HASHING=1 "$folder/program" </dev/null 2>&1 |
        sed -E "s|$folder/files|FOLDER|g; s/[0-9a-f]{24}/ID/g" >"$folder/output" || true
    [ -z "${UPDATE:-}" ] || cp "$folder/output" Tests/Articles/output.txt
    holds "the examples print the expected output" diff Tests/Articles/output.txt "$folder/output"
    folder=$scratch/combine-article
    generate_classes Schemas/Kennel "$folder"
    example_functions MartletCombine 'import MartletCombine\nimport OpenCombine' \
        Sources/MartletCombine/MartletCombine.docc/MartletCombine.md >"$folder/Article.swift"
    flows "examples of MartletCombine" "${swift_6[@]}" "$folder"/*.swift
}

# example_functions NAME IMPORTS ARTICLE: prints the examples of an article as functions NAME1, NAME2, … If a line
# '<!-- not run: REASON -->' precedes an example, the name of its function ends with 'NotRun'.
example_functions() {
    awk -v "name=$1" -v "imports=$2" '
        BEGIN { print "import Foundation\nimport Martlet\nimport Observation\n" imports "\n" }
        /^<!-- not run: / { suffix = "NotRun" }
        /^ *```swift$/ {
            inside = 1
            print "func " name (++number) suffix "(_ realm: Realm, _ dogs: Results<Dog>, _ dog: Dog) throws {"
            suffix = ""
            next
        }
        /^ *```/ && inside { inside = 0; print "}\n"; next }
        inside { print }' "$3"
}

# first_block LANGUAGE: prints the first code block of the README in a language.
first_block() { awk -v "begin=\`\`\`$1" '$0 == begin && !done { inside = 1; next } /^```/ && inside { inside = 0; done = 1 } inside' README.md; }

# Checks that the first program of the README prints the output that the README shows.
check_readme() {
    local folder=$scratch/readme
    echo "readme:"
    mkdir -p "$folder/schema"
    first_block yaml >"$folder/schema/Kennel.yaml"
    generate "$folder/schema" "$folder/out"
    first_block swift >"$folder/out/main.swift"
    awk '/^The first run prints:$/ { found = 1 } found && /^```$/ { fences++; next } fences == 1' README.md >"$folder/expected"
    # shellcheck disable=SC2046
    holds "the first program of the README compiles" swiftc -module-name Models "${modules[@]}" "${swift_6[@]}" \
        "$folder"/out/*.swift $(runtime_objects) -lsqlite3 -o "$folder/program"
    XDG_DATA_HOME=$folder/data "$folder/program" >"$folder/output" 2>&1 || true
    holds "the first program of the README prints the output in the README" diff "$folder/expected" "$folder/output"
}

for part in "${parts[@]}"; do "check_$part"; done

if [ -e "$scratch/failures" ]; then
    echo "$(wc -l <"$scratch/failures") failed"
    exit 1
fi
echo "all passed"
