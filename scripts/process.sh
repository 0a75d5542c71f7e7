#!/usr/bin/env bash
# Identifies processes: sourced by scripts/stack.sh and scripts/postgres.

# When a process started: with the PID, this identifies it. Empty if it has exited, also for a
# zombie.
began() { # PID
  local line fields
  case ${1:-} in '' | *[!0-9]*) return 0 ;; esac
  if [ -d /proc/self ]; then
    { IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
    read -r -a fields <<<"${line##*) }" # the name before it may contain blanks
    case ${fields[0]} in Z | X) return 0 ;; esac
    echo "${fields[19]} ticks after the start of system $(cat /proc/sys/kernel/random/boot_id)"
  else
    line=$(ps -o stat= -o lstart= -p "$1") || return 0
    case $line in Z*) ;; *) echo "${line#* }" ;; esac
  fi
}
