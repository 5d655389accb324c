#!/bin/sh
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh CONFORMANCE: the kernels at small shapes under Oclgrind, which sees data races, accesses
# outside a buffer and misuse of the interface. Exit status 77 where it is not installed.
set -euf
library=/usr/lib/oclgrind/liboclgrind-rt-icd.so
if [ ! -e "$library" ]; then
    echo "oclgrind is not installed"
    case " ${TAPML_REQUIRE:-} " in *" oclgrind "*) exit 1 ;; esac
    exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export OCL_ICD_VENDORS="$library" OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1 OCLGRIND_LOG="$log"

for tile in small large; do
    for test in attention/everything attention/heads attention/mask bits/gather_rows bits/numbers_beyond_the_rows \
        elements/silu_of_large_values embed/blocks experts/* linear/blocks linear/ranks queue/counters recurrences/* \
        rows/rms_norm_of_wide_rows; do
        TAPML_OPTIONS="tile=$tile" "$1" -j1 --filter "$test"
    done
done
if [ -s "$log" ]; then
    head -n 60 "$log"
    exit 1
fi
