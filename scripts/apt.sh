#!/usr/bin/env bash
# Installs missing packages with apt. Sourced by scripts/postgres-install, scripts/test and
# scripts/lint, which define say and die. apt's output goes to .local/install.log (or
# TASKLENS_LOCAL); its end is shown on failure.

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

# Times out on a server that does not respond, and waits up to two minutes for another apt.
apt() { # apt-get's arguments
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 "$@"
}

refresh() {
  quietly 'Reading the package lists' apt update || die "the package lists cannot be read (see $install_log)"
}

# Upgrades nothing unless a new package requires it: the headers of a newer patch release can
# require that release of the server.
apt_install() { # PACKAGE…
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  # Outdated package lists name packages that no longer exist.
  quietly "Installing ${missing[*]}" apt install -y --no-install-recommends --no-upgrade "${missing[@]}" && return
  refresh
  quietly "Installing ${missing[*]}" apt install -y --no-install-recommends --no-upgrade "${missing[@]}" ||
    die "${missing[*]} cannot be installed (see $install_log)"
}

# Installs packages if the command (or file) that they provide is missing.
need() { # COMMAND-OR-FILE PACKAGE…
  local what=$1
  shift
  if command -v "$what" >/dev/null || [ -e "$what" ]; then return; fi
  command -v apt-get >/dev/null || die "$what is missing: install $*"
  apt_install "$@"
  command -v "$what" >/dev/null || [ -e "$what" ] || die "$what is missing, though $* is installed"
}

need_chromium() {
  command -v chromium >/dev/null || need chromium chromium fonts-dejavu-core
}
