#!/usr/bin/env bash
# Compiles generated code as its users do: four sets of language options, three access levels, warnings as errors (S22).
#
#   Tests/generated-check.sh [SCHEMA…]     all of Schemas/ when none is named
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/.build}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/martlet-generated-check.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
schemas=("$@")
[ ${#schemas[@]} -gt 0 ] || schemas=(Kennel Conformance Flights)
failures=0

cd "$root"
swift build --scratch-path "$build" --product MartletGenerator >/dev/null
swift build --scratch-path "$build" --target Martlet >/dev/null
binaries=$(swift build --scratch-path "$build" --show-bin-path)

modules=(-I "$binaries/Modules")
for map in Sources/*/module.modulemap "$binaries"/*.build/module.modulemap; do
    [ -e "$map" ] && modules+=(-Xcc "-fmodule-map-file=$map" -Xcc "-I$(dirname "$map")")
done

# A user's own file beside the generated ones, with the plain imports that people write.
cat >"$scratch/User.swift" <<'SWIFT'
import Foundation
import Martlet

func look(at realm: Realm, since moment: Date) {}
SWIFT

compile() {
    local name=$1 folder=$2
    shift 2
    if swiftc -typecheck -parse-as-library -module-name Models -package-name models -warnings-as-errors \
        "${modules[@]}" "$@" "$folder"/*.swift "$scratch/User.swift" >"$scratch/log" 2>&1; then
        printf '  ok    %s\n' "$name"
    else
        printf '  FAIL  %s\n' "$name"
        grep -E 'error|warning' "$scratch/log" | head -10
        failures=$((failures + 1))
    fi
}

for schema in "${schemas[@]}"; do
    for access in public package internal; do
        folder=$scratch/$schema-$access
        mkdir "$folder"
        printf 'access: %s\n' "$access" >"$folder/martlet.yaml"
        find "Schemas/$schema" -name '*.yaml' ! -name martlet.yaml -print0 | xargs -0 \
            "$binaries/MartletGenerator" --output "$folder" --root "Schemas/$schema" --config "$folder/martlet.yaml" --
        compile "$schema $access: Swift 5" "$folder" -swift-version 5
        compile "$schema $access: Swift 6" "$folder" -swift-version 6
        compile "$schema $access: Swift 6, everything on the main actor" "$folder" -swift-version 6 \
            -default-isolation MainActor
        compile "$schema $access: Swift 6, upcoming features" "$folder" -swift-version 6 \
            -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
            -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
    done
done

if [ "$failures" -gt 0 ]; then
    echo "$failures failed"
    exit 1
fi
echo "all well"
