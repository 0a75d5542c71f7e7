#!/usr/bin/env bash
# Installing what is missing, by apt: sourced by scripts/postgres-install, scripts/test and scripts/lint, which define say
# and die. What apt says is in .local/install.log (or TASKLENS_LOCAL), and its end is shown where it fails.

install_log=${TASKLENS_LOCAL:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)/.local}/install.log
case $install_log in /*) ;; *) install_log=$PWD/$install_log ;; esac

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else
    say 'This needs root, or sudo.'
    return 1
  fi
}

quietly() { # MESSAGE COMMAND…
  local message=$1
  shift
  say "$message …"
  mkdir -p "${install_log%/*}"
  "$@" >"$install_log" 2>&1 </dev/null && return
  say "It failed: $*"
  tail -n 20 "$install_log" >&2
  return 1
}

# A server that does not answer is given up, and another apt is waited for, for two minutes.
apt() { # apt-get's arguments
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 "$@"
}

refresh() {
  quietly 'Reading the package lists' apt update || die "the package lists cannot be read (all that was said is in $install_log)"
}

# Nothing that is installed is upgraded, but for what a package to be added strictly asks for: the headers of a newer
# patch release of the same major version can want the server of that release.
apt_install() { # PACKAGE…
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  # Old lists name packages that are no longer served.
  quietly "Installing ${missing[*]}" apt install -y --no-install-recommends --no-upgrade "${missing[@]}" && return
  refresh
  quietly "Installing ${missing[*]}" apt install -y --no-install-recommends --no-upgrade "${missing[@]}" ||
    die "${missing[*]} cannot be installed (all that was said is in $install_log)"
}

# Packages, where the command (or file) that they bring is missing.
need() { # COMMAND-OR-FILE PACKAGE…
  local what=$1
  shift
  if command -v "$what" >/dev/null || [ -e "$what" ]; then return; fi
  command -v apt-get >/dev/null || die "$what is missing: install $*"
  apt_install "$@"
  command -v "$what" >/dev/null || [ -e "$what" ] || die "$what is missing, though $* is installed"
}
