#!/usr/bin/env bash
# Compiles generated code as its users do, warnings as errors, and looks at what the compiler and the program then say.
#
#   Tests/generated-check.sh [modes|names|values|messages|queries|confinement|articles|catalog]…     all parts when none is named
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/.build}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/martlet-generated-check.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(modes names values messages queries confinement articles catalog)
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

# A user's own file beside the generated ones, with the plain imports that people write.
cat >"$scratch/User.swift" <<'SWIFT'
import Foundation
import Martlet

func look(at realm: Realm, since moment: Date) {}
SWIFT

# The same beside a namespace, with a type that Swift has too.
cat >"$scratch/NamespaceUser.swift" <<'SWIFT'
import Foundation
import Martlet

func look(at realm: Realm, since moment: Date) -> Task<Int, Never> { Task { 7 } }
func urgent(_ tasks: Results<Kennel.Task>) -> Results<Kennel.Task> { tasks.where { $0.priority > 2 } }
SWIFT

ok() { printf '  ok    %s\n' "$1"; }

# fail NAME LOG: remembered in a file, since checks run side by side.
fail() {
    printf '  FAIL  %s\n' "$1"
    { grep -E '^[^ ].*(error|warning):' "$2" || cat "$2"; } | head -10 | cut -c 1-300
    echo "$1" >>"$scratch/failures"
}

# holds NAME COMMAND…: one line for each thing that must hold.
holds() {
    local name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then ok "$name"; else fail "$name" "$scratch/log"; fi
}

# As many at once as there are processors.
in_turn() {
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
}

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

# generate SCHEMA OUTPUT [ACCESS [NAMESPACE]]
generate() {
    mkdir -p "$2"
    printf 'access: %s\nnamespace: %s\n' "${3:-public}" "${4:-}" >"$2/martlet.yaml"
    find "$1" -name '*.yaml' ! -name martlet.yaml -print0 | xargs -0 \
        "$binaries/MartletGenerator" --output "$2" --root "$1" --config "$2/martlet.yaml" --
}

# The good examples of the reference: one schema.
reference() {
    mkdir "$1"
    awk -v folder="$1" '
        /^```yaml$/ { number++; file = folder "/Example" number ".yaml"; next }
        /^```/ || (file && /^# (wrong:|martlet\.yaml)/) { file = "" }
        file { print >file }' Documentation/SchemaReference.md
}

check_modes() {
    local schema access folder
    echo "modes:"
    reference "$scratch/Reference"
    for schema in Schemas/* "$scratch/Reference"; do
        for access in public package internal; do
            folder=$scratch/${schema##*/}-$access
            generate "$schema" "$folder" "$access"
            for mode in swift_5 swift_6 main_actor upcoming; do
                local -n options=$mode
                in_turn
                compiles "S22 ${schema##*/} $access: $mode" "${options[@]}" "$folder"/*.swift "$scratch/User.swift" &
            done
        done
    done
    for access in public package internal; do
        folder=$scratch/namespace-$access
        generate Schemas/Kennel "$folder" "$access" Kennel
        for mode in swift_5 swift_6 main_actor upcoming; do
            local -n options=$mode
            in_turn
            compiles "S7 S22 Kennel in a namespace $access: $mode" "${options[@]}" "$folder"/*.swift \
                "$scratch/NamespaceUser.swift" &
        done
    done
    wait
}

# symbol_graph MODULE FOLDER [OPTION]…
symbol_graph() {
    local module=$1 folder=$2
    shift 2
    swift symbolgraph-extract -module-name "$module" "${modules[@]}" -minimum-access-level public "$@" \
        -target "$(swiftc -print-target-info | sed -nE 's/.*"unversionedTriple": "([^"]*)".*/\1/p')" -output-dir "$folder"
}

# Every awkward name, wherever a schema can name something, is refused at its place or compiles.
check_names() {
    local folder name file
    echo "names:"
    mkdir "$scratch/graph"
    symbol_graph Martlet "$scratch/graph" -include-spi-symbols
    holds "S14 MRT0402 names are refused at their place, members of the runtime all of them" \
        Tests/Hostile/names.py "$binaries/martlet" "$scratch/graph/Martlet.symbols.json" "$scratch/names"
    for folder in "$scratch"/names/*/; do
        name=$(basename "$folder")
        generate "$folder" "$scratch/names-out/$name"
        for mode in swift_5 main_actor; do
            # The larger half of the time goes into types, which are the same in every mode.
            [[ $mode = swift_5 && $name = *-types-0 ]] && continue
            local -n options=$mode
            in_turn
            compiles "S14 S22 $name: $mode" "${options[@]}" "$scratch/names-out/$name"/*.swift &
        done
    done
    wait
    # Namespaces called as what generated code, the runtime or Swift speaks of: all of them in one module.
    for name in Object EmbeddedObject List Map Field FieldPath Projection Element Key Value Storage Class Optional Array Set \
        Sendable Models Space; do
        folder=$scratch/spaces/$name
        generate Tests/Hostile "$folder" public "$name"
        for file in "$folder"/*.swift; do mv "$file" "$folder/$name-${file##*/}"; done
    done
    compiles "S7 S14 S22 namespaces called as types of others" "${main_actor[@]}" "$scratch"/spaces/*/*.swift
}

# Texts come back from compiled code as the schema has them.
check_values() {
    local folder=$scratch/values objects
    echo "values:"
    Tests/Hostile/values.py schema "$folder"
    generate "$folder/Schemas" "$folder/out"
    objects=$(find "$binaries"/{Martlet,MartletEngine,MartletSQLite,CMartletRuntime,CMartletLogVFS,CMartletMemoryVFS}.build -name '*.o')
    mkdir "$folder/graph"
    holds "S14 awkward texts compile, without warnings" swiftc "${models[@]}" -warnings-as-errors "${modules[@]}" \
        "${swift_6[@]}" -emit-module -emit-module-path "$folder/Models.swiftmodule" -emit-symbol-graph \
        -emit-symbol-graph-dir "$folder/graph" "$folder"/out/*.swift
    holds "S14 documentation and deprecations are the texts of the schema" \
        Tests/Hostile/values.py symbols "$folder/graph/Models.symbols.json"
    # shellcheck disable=SC2086
    holds "S14 a program that compares its values with the texts compiles" swiftc -module-name Models "${modules[@]}" \
        "${swift_6[@]}" "$folder"/out/*.swift "$folder/main.swift" $objects -lsqlite3 -o "$folder/program"
    holds "S14 defaults and raw values are the texts of the schema" "$folder/program"
    mkdir "$folder/own"
    cp Tests/Hostile/Own.yaml "$folder/own"
    generate "$folder/own" "$folder/own-out"
    cp Tests/Hostile/Own.swift "$folder/own-out/main.swift"
    # shellcheck disable=SC2086
    holds "S14 S21 a program that uses members named as types compiles" swiftc -module-name Models "${modules[@]}" \
        "${swift_6[@]}" "$folder"/own-out/*.swift $objects -lsqlite3 -o "$folder/own-program"
    holds "S14 S21 members named as types mean what the schema says" "$folder/own-program"
    mkdir "$folder/space"
    cp Tests/Hostile/Space.yaml "$folder/space"
    generate "$folder/space" "$folder/space-out" public Space
    cp Tests/Hostile/Space.swift "$folder/space-out/main.swift"
    # The module has the name of the namespace, too.
    # shellcheck disable=SC2086
    holds "S7 S14 a program that uses members and a module named as the namespace compiles" swiftc \
        -module-name Space "${modules[@]}" "${swift_6[@]}" "$folder"/space-out/*.swift $objects -lsqlite3 \
        -o "$folder/space-program"
    holds "S7 S14 S21 members named as the namespace mean what the schema says" "$folder/space-program"
    swiftc -typecheck "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$folder"/out/*.swift "$folder/User.swift" \
        >"$folder/warnings" 2>&1 || true
    holds "S22 deprecated properties warn where the user uses them, with the text of the schema, and nowhere else" \
        Tests/Hostile/values.py warnings "$folder/warnings"
}

# says NAME TEXT FILE…: the files do not compile, and the compiler says so in one error of this text.
says() {
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
        says "S22 '$kind' is not Sendable, and the compiler says what to use" "$text" "$folder"/*.swift "$scratch/Send.swift"
    done <<'KINDS'
Dog|stay where their Realm was opened; pass a primary key and look the object up
Address|stay where their Realm was opened; pass a primary key and look the object up
PersonProjection|stays where its object's Realm was opened; pass the primary key of the object and project it anew
Results<Dog>|stay where their Realm was opened; query a Realm that is opened there
List<Dog>|stays where its Realm was opened; pass its values, or the primary key of its owner
MutableSet<String>|stays where its Realm was opened; pass its values, or the primary key of its owner
Map<Double>|stays where its Realm was opened; pass its values, or the primary key of its owner
LinkingObjects<Dog>|stays where its Realm was opened; pass its values, or the primary key of its owner
ProjectedCollection<String>|stays where its Realm was opened; pass its values, or the primary key of its owner
ProjectedResults<PersonProjection>|stay where their Realm was opened; query a Realm that is opened there
Realm|stays where it was opened; open another one with the same configuration there
KINDS
    sed -i 's/GeneratedCodeFormat[0-9]*/GeneratedCodeFormat0/' "$folder/MartletSchema.martlet.swift"
    says "S23 an old generated file is one error that says what to do" \
        "generated for an older version of Martlet; generate it again" "$folder"/*.swift
    sed -i 's/GeneratedCodeFormat[0-9]*/GeneratedCodeFormat99/' "$folder/MartletSchema.martlet.swift"
    says "S23 a generated file of a newer version is one error" "'GeneratedCodeFormat99'" "$folder"/*.swift
}

# Typed queries: what means something compiles, and each line of what does not is an error.
check_queries() {
    local folder=$scratch/queries wrong=$scratch/WrongQueries.swift
    echo "queries:"
    generate Schemas/Kennel "$folder"
    compiles "O50 typed queries compile, without warnings" "${swift_6[@]}" "$folder"/*.swift Tests/Queries/Valid.swift
    sed -n '/^func /p' Tests/Queries/Invalid.swift | grep -c . >"$scratch/expected"
    { echo 'import Martlet'; sed '1,/^import/d' Tests/Queries/Invalid.swift; } >"$wrong"
    swiftc -typecheck "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$folder"/*.swift "$wrong" >"$scratch/log" 2>&1 || true
    grep -nE '^func ' "$wrong" | cut -d: -f1 | sort -n >"$scratch/lines"
    sed -nE "s|^$wrong:([0-9]+):[0-9]+: error: .*|\\1|p" "$scratch/log" | sort -nu >"$scratch/refused"
    holds "O50 each of $(cat "$scratch/expected") wrong queries does not compile" diff "$scratch/lines" "$scratch/refused"
}

# generate_classes SCHEMA OUTPUT: without the list of them, whose constants for a linker section need more than 'flows' does.
generate_classes() {
    generate "$1" "$2"
    rm "$2/MartletSchema.martlet.swift"
}

# flows NAME OPTION… FILE…: compiles, the flow of values included, which is where the compiler looks for data races.
flows() {
    local name=$1
    shift
    holds "$name" swiftc -emit-sil -o /dev/null -wmo "${models[@]}" -warnings-as-errors "${modules[@]}" "$@"
}

# refused FILE OUT MODE…: the lines that the compiler refuses for where objects live, and nothing else.
refused() {
    local file=$1 out=$2
    shift 2
    swiftc "$@" -wmo "${models[@]}" "${modules[@]}" "${swift_6[@]}" "$scratch/confinement"/*.swift "$file" \
        >"$scratch/log" 2>&1 || true
    sed -nE "s/^${file//\//\\/}:([0-9]+):.* error: .*(Sendable|data race).*/\1/p" "$scratch/log" | sort -nu >"$out"
}

# Live objects and the borders between threads: what is right compiles, each line of what is wrong does not.
check_confinement() {
    local wrong=$scratch/Wrong.swift
    echo "confinement:"
    generate_classes Schemas/Kennel "$scratch/confinement"
    flows "O1 N125 N129 ways from one home of objects to another compile, without warnings" "${swift_6[@]}" \
        "$scratch/confinement"/*.swift Tests/Isolation/Valid.swift
    grep -nE '^func ' Tests/Isolation/Invalid.swift | cut -d: -f1 >"$scratch/lines"
    cp Tests/Isolation/Invalid.swift "$wrong"
    refused "$wrong" "$scratch/by-type" -typecheck
    # The flow of values is looked at only where all types are right.
    awk 'NR == FNR { refused[$1]; next } { print FNR in refused ? "" : $0 }' "$scratch/by-type" "$wrong" >"$scratch/Flow.swift"
    refused "$scratch/Flow.swift" "$scratch/by-flow" -emit-sil -o /dev/null
    sort -n "$scratch/by-type" "$scratch/by-flow" >"$scratch/refused"
    holds "O1 each of $(wc -l <"$scratch/lines") ways of live objects to where they are not at home does not compile" \
        diff "$scratch/lines" "$scratch/refused"
}

# The examples of the articles, each a function of its own.
check_articles() {
    local article folder=$scratch/articles combine
    echo "articles:"
    generate_classes Schemas/Kennel "$folder"
    for article in Sources/Martlet/Martlet.docc/*.md Sources/MartletCombine/MartletCombine.docc/*.md; do
        combine=
        [[ $article != Sources/MartletCombine/* ]] || combine='import MartletCombine\nimport OpenCombine'
        awk -v "combine=$combine" '
            BEGIN { print "import Foundation\nimport Martlet\nimport Observation\n" combine "\n" }
            /^```swift$/ {
                inside = 1
                print "func example" ++number "(_ realm: Realm, _ dogs: Results<Dog>, _ dog: Dog) throws {"
                next
            }
            /^```/ && inside { inside = 0; print "}\n"; next }
            inside { print }' "$article" >"$scratch/Article.swift"
        flows "examples of $(basename "$article")" "${swift_6[@]}" "$folder"/*.swift "$scratch/Article.swift"
    done
}

# The pages of the libraries, articles and symbols, made without a warning: links lead somewhere, parameters are told of.
check_catalog() {
    local module folder
    echo "catalog:"
    for module in Martlet MartletCombine; do
        folder=$scratch/catalog/$module
        mkdir -p "$folder/graph"
        symbol_graph "$module" "$folder/graph"
        holds "the documentation catalog of $module builds, without warnings" docc convert \
            "Sources/$module/$module.docc" --additional-symbol-graph-dir "$folder/graph" \
            --fallback-display-name "$module" --fallback-bundle-identifier martlet --output-dir "$folder/pages" \
            --warnings-as-errors
    done
}

for part in "${parts[@]}"; do "check_$part"; done

if [ -e "$scratch/failures" ]; then
    echo "$(wc -l <"$scratch/failures") failed"
    exit 1
fi
echo "all well"
