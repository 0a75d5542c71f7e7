#!/usr/bin/env bash
# What checks that drive a demo have in common: a demo of the check's own, in .local/test/NAME and on
# a free port, that ends with the check. Sourced with NAME by scripts/check-client, check-console,
# check-mcp and check-supabase-js.

set -m # or background jobs would ignore SIGINT
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cd "$here/.." || exit
export TASKLENS_LOCAL=$PWD/.local/test/$1
unset SUPABASE_URL OPENAI_API_KEY OPENAI_BASE_URL AUTH CONSOLE CACHE PUBLIC_URL TASKLENS_URL TASKLENS_TOKEN
export npm_config_fetch_timeout=60000 npm_config_fetch_retries=1 npm_config_update_notifier=false
log=$TASKLENS_LOCAL.log
demo=
mkdir -p "${TASKLENS_LOCAL%/*}"
rm -f "$log" # or die would show the log of an earlier demo

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; [ ! -e "$log" ] || tail -n 20 "$log" >&2; exit 1; }
# shellcheck source=scripts/apt.sh
. "$here/apt.sh"

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT
free_port() { # LEAST
  local port=0
  while [ $port = 0 ] || listens $port; do port=$(($1 + RANDOM % 10000)); done
  echo $port
}

end_demo() {
  [ -n "$demo" ] || return 0
  kill "$demo" 2>/dev/null || true
  wait "$demo" 2>/dev/null || true
}

# Starts the demo with the settings that are exported, and exports SERVICE_URL.
start_demo() {
  local port tenths=0
  port=$(free_port 20000)
  trap end_demo EXIT
  PORT="$port" "$here/demo" --fresh >"$log" 2>&1 </dev/null &
  demo=$!
  until [ -e "$log" ] && grep -q 'createClient(' "$log"; do # the last line that it prints
    kill -0 $demo 2>/dev/null || die 'the demo did not start'
    tenths=$((tenths + 1))
    [ $tenths -lt 6000 ] || die 'the demo did not start within ten minutes'
    sleep 0.1
  done
  export SERVICE_URL=http://127.0.0.1:$port
}

need_chromium() {
  if ! command -v chromium >/dev/null; then need chromium chromium fonts-dejavu-core; fi
  CHROMIUM=$(command -v chromium)
  export CHROMIUM
}
