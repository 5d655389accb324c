# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by tools/quickstart and tools/test, from the repository's root: packages and build folders.

say() {
    printf '\n== %s\n' "$*"
}

# The packages of the groups named that this machine lacks. A C compiler of any name stands for gcc.
missing_packages() {
    local groups=" $* " group package
    while read -r group package; do
        case "$group" in '' | '#'*) continue ;; esac
        [[ $groups == *" $group "* ]] || continue
        [ "$package" = gcc ] && command -v cc >/dev/null && continue
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && continue
        echo "$package"
    done <tools/packages
}

# Installs what is missing of the groups named, as root or through sudo.
install_packages() {
    local missing sudo=()
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: the packages to have are listed in tools/packages"
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "neither root nor sudo: install them by hand" >&2
            return 3
        fi
        sudo=(sudo)
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null &&
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
}

# Configures folder $1 with the further meson options, anew where it exists, since a package may have
# come that was not there before; then builds it, or of it what $targets names.
build_in() {
    local folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        meson setup --reconfigure "$@" "$folder" >/dev/null || meson setup --wipe "$@" "$folder" || return
    else
        meson setup "$@" "$folder" || return
    fi
    # shellcheck disable=SC2086 # Several targets are several words.
    ninja -C "$folder" ${targets:-all}
}

# Drivers keep compiled kernels and sockets; they go into build folder $1, not into the user's home.
keep_drivers_in() {
    mkdir -p "$1/driver/cache" "$1/driver/runtime"
    chmod 700 "$1/driver/runtime"
    POCL_CACHE_DIR=$(cd "$1/driver/cache" && pwd)
    XDG_RUNTIME_DIR=$(cd "$1/driver/runtime" && pwd)
    XDG_CACHE_HOME=$POCL_CACHE_DIR
    export POCL_CACHE_DIR XDG_CACHE_HOME XDG_RUNTIME_DIR
}
