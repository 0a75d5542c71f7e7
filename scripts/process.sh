#!/usr/bin/env bash
# Which process a number stands for: sourced by scripts/stack.sh and scripts/postgres.

# When a process began: with its number, that tells it from any other. Nothing where it has ended; a
# zombie has.
began() { # PID
  local line fields
  case ${1:-} in '' | *[!0-9]*) return 0 ;; esac
  if [ -d /proc/self ]; then
    { IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
    read -r -a fields <<<"${line##*) }" # before it stands a name, which may have blanks
    case ${fields[0]} in Z | X) return 0 ;; esac
    echo "${fields[19]} ticks after the start of system $(cat /proc/sys/kernel/random/boot_id)"
  else
    line=$(ps -o stat= -o lstart= -p "$1") || return 0
    case $line in Z*) ;; *) echo "${line#* }" ;; esac
  fi
}
