#!/bin/sh
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
# clang_format.sh CLANG-FORMAT: every source and header is as .clang-format would lay it out. The
# kernel dialect is not C but macros over five languages, and is laid out by hand. Prints the first
# place of each file that is not.
set -eu
cd "$(dirname "$0")/../.."
find core sdk plugins tests -name '*.[ch]' -type f ! -path 'sdk/gpu/dialect/*' -print0 |
    xargs -0 -n 40 "$1" --dry-run -Werror 2>&1 |
    sed -n 's/^\([^ :]*:[0-9]*:[0-9]*: \)error: .*/\1run clang-format -i on this file/p' |
    sort -t: -k1,1 -u | { ! grep .; }
