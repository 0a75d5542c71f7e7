#!/usr/bin/env bash
# Starts and addresses the parts of tasklens on this machine. Sourced by scripts/demo and
# scripts/eval, which keep everything in .local/ (or TASKLENS_LOCAL) and serve on $PORT, and by
# scripts/import.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=${here%/*}
local=${TASKLENS_LOCAL:-$root/.local}
case $local in /*) ;; *) local=$PWD/$local ;; esac
run=$local/run
bin=$local/bin
[ -e "$root/go.mod" ] || bin=$root/bin # a release brings the programs, not their source
server=$bin/server # the service
lab=$bin/lab       # the stand-ins and the measurements
convert=$bin/convert # makes JSON Lines of exports

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# ---- processes -----------------------------------------------------------------------------------

# shellcheck source=scripts/process.sh
. "$here/process.sh"

# Records a process of ours, for this script and later ones.
note() { # NAME PID
  printf '%s %s\n' "$2" "$(began "$2")" >"$run/$1.pid"
}

# The recorded process, if it still runs. Its PID alone may belong to another program by now.
process_of() { # NAME
  local pid when
  { read -r pid when <"$run/$1.pid"; } 2>/dev/null || return 0
  if [ -n "$when" ] && [ "$(began "$pid")" = "$when" ]; then echo "$pid"; fi
}

# Ends a recorded process: a killed demo leaves some behind.
end() { # NAME
  local pid tenths=0
  pid=$(process_of "$1")
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    while [ -n "$(process_of "$1")" ] && [ $tenths -lt 150 ]; do
      sleep 0.1
      tenths=$((tenths + 1))
    done
    [ -z "$(process_of "$1")" ] || kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$run/$1.pid"
}

# Starts a program in the background, with its output in .local/run/NAME.log.
begin() { # NAME COMMAND...
  local name=$1
  shift
  # In the foreground, so that the log of an earlier start is never mistaken for this one's.
  : >"$run/$name.log"
  "$@" >>"$run/$name.log" 2>&1 </dev/null &
  note "$name" $!
}

# The address that one of our servers prints once it listens.
address_of() { # NAME
  local tenths=0 line
  until line=$(grep -m 1 '^http://' "$run/$1.log"); do
    [ -n "$(process_of "$1")" ] || die "the $1 did not start: $(tail -n 3 "$run/$1.log")"
    tenths=$((tenths + 1))
    [ $tenths -lt 300 ] || die "the $1 did not start, see $run/$1.log"
    sleep 0.1
  done
  echo "$line"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT

# shellcheck disable=SC2120 # check-stack passes it
free_port() { # [LEAST]
  local port=0
  while [ $port = 0 ] || listens $port; do port=$((${1:-20000} + RANDOM % 10000)); done
  echo $port
}

# A free port that is the same at each start, so that a frontend's configuration stays valid.
kept_port() { # FILE
  local port
  port=$(cat "$1" 2>/dev/null || true)
  if [ -z "$port" ] || listens "$port"; then
    port=$(free_port)
    echo "$port" >"$1"
  fi
  echo "$port"
}

# Ends what a killed script left behind, unless another one still runs here.
clear_way() {
  local other name
  mkdir -p "$run"
  other=$(process_of owner)
  [ -z "$other" ] || die "another one is already running here (process $other): stop it first"
  for name in enrich service postgrest gateway model chaos redis; do end $name; done
}

# From now on everything started here ends with this script.
own() {
  mkdir -p "$run"
  rm -f "$run/env" # from a killed demo
  note owner $$
  trap finish EXIT
}

finish() {
  trap - EXIT
  trap '' INT TERM
  end enrich
  end service
  end postgrest
  end gateway
  end model
  end chaos
  end redis
  "$here/postgres" stop "$local/postgres" 2>/dev/null || true
  rm -f "$run/owner.pid" "$run/env"
  say 'Stopped.'
}

# ---- the steps -----------------------------------------------------------------------------------

# Without cgo, or installing a C compiler later would cause a full rebuild; without version control
# stamps, which fail if the checkout belongs to another user; without the debugger's tables, which
# take a third of the linker's time.
build() { # PACKAGE...
  [ "$bin" = "$local/bin" ] || return 0
  command -v go >/dev/null || die 'Go is missing: install Go 1.26 or later (go.dev/dl), or use Docker and "npx supabase start" with a built binary'
  if [ -x "$server" ]; then say 'Building what has changed …'
  else say 'Building (one to four minutes the first time) …'
  fi
  mkdir -p "$bin"
  (cd "$root" && CGO_ENABLED=0 go build -v -buildvcs=false -ldflags=-w -o "$bin/" "$@") 2>&1 | count_packages || die 'it does not build, see above'
}

# Passes the output of go build -v on, but of the packages only how many are done.
count_packages() {
  local line packages=0
  while read -r line; do
    case $line in
      *[\ :]*) say "$line" ;; # a message
      *) packages=$((packages + 1)) && [ $((packages % 50)) != 0 ] || say "… $packages packages are built" ;;
    esac
  done
}

# The database with all migrations. Sets the URLs of its roles, and PGBIN.
start_database() { # [NAME]
  local name=${1:-tasklens}
  "$here/postgres" start "$local/postgres"
  "$here/postgres" create "$name" "$local/postgres"
  eval "$("$here/postgres" env "$local/postgres" "$name")"
  migrate
}

# Sets SUPABASE_SCHEMA to the schema of the installation: that of $schema, if it is new.
migrate() {
  refuse_edited
  # shellcheck disable=SC2154 # scripts/demo sets it
  PATH=$PGBIN:$PATH "$root/supabase/apply" ${schema:+--schema "$schema"} "$OWNER_URL" >&2 || die 'the migrations cannot be applied, see above (./scripts/demo --fresh makes a new database)'
  SUPABASE_SCHEMA=$(installed_schema)
  export SUPABASE_SCHEMA
}

installed_schema() { "$PGBIN/psql" -qXAt "$OWNER_URL" -c 'select api_schema from tasklens.installation' 2>/dev/null; }

# A migration that was edited after the database had it is not applied again.
refuse_edited() {
  local file version edited installed folder
  installed=$(installed_schema) || return 0 # nothing is applied
  folder=$(mktemp -d)
  "$root/supabase/apply" --schema "$installed" --render "$folder" >/dev/null
  edited=$(for file in "$folder"/*.sql; do
    version=${file##*/}
    printf '\\set text `cat "%s"`\n' "$file"
    echo "select '${version%%_*}' from supabase_migrations.schema_migrations where version = '${version%%_*}' and rtrim(array_to_string(statements, ';'), E'\n') <> :'text';"
  done | "$PGBIN/psql" -qXAt "$OWNER_URL" 2>/dev/null | tr '\n' ' ')
  rm -rf "$folder"
  [ -z "$edited" ] || die "migrations have changed since the database was made (${edited% }): ./scripts/demo --fresh makes a new one"
}

# An installed PostgREST, or our gateway, over the database. Sets which of them it is, its port, and
# the key that the demo prints for supabase-js. SUPABASE_URL is the same at each start, because it
# names the issuer of tokens.
# shellcheck disable=SC2034
start_rest() {
  local secret
  [ -s "$local/jwt-secret" ] || (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$local/jwt-secret")
  secret=$(cat "$local/jwt-secret")
  SUPABASE_SERVICE_ROLE_KEY=$(JWT_SECRET=$secret "$lab" token service_role)
  # With AUTH=on the service accepts the tokens of scripts/token. There are no keys of the newer
  # kind here.
  export SUPABASE_SERVICE_ROLE_KEY SUPABASE_JWT_SECRET=$secret SUPABASE_JWKS_URL=off
  postgrest=${POSTGREST_BIN:-$(command -v postgrest || true)}
  if [ -n "$postgrest" ]; then
    rest=postgrest
    rest_port=$(free_port)
    export SUPABASE_REST_URL=http://127.0.0.1:$rest_port
  else
    rest=gateway
    rest_port=$(kept_port "$local/rest-port")
  fi
  begin_rest
  if [ $rest = postgrest ]; then
    # supabase-js appends /rest/v1, which PostgREST itself does not serve.
    PORT=$(kept_port "$local/rest-port") POSTGREST_URL=$SUPABASE_REST_URL JWT_SECRET=$secret begin gateway "$lab" gateway
  fi
  SUPABASE_URL=$(address_of gateway)
  export SUPABASE_URL
  anon_key=$(JWT_SECRET=$secret "$lab" token anon)
}

# Starts or restarts it on its port.
begin_rest() {
  local secret tenths=0
  secret=$(cat "$local/jwt-secret")
  if [ $rest = gateway ]; then
    PORT=$rest_port DATABASE_URL=$AUTHENTICATOR_URL JWT_SECRET=$secret begin gateway "$lab" gateway
    address_of gateway >/dev/null
    return
  fi
  PGRST_DB_URI=$AUTHENTICATOR_URL PGRST_DB_SCHEMAS=${SUPABASE_SCHEMA:-public} PGRST_DB_EXTRA_SEARCH_PATH=public,extensions \
    PGRST_DB_ANON_ROLE=anon PGRST_DB_MAX_ROWS=1000 PGRST_JWT_SECRET=$secret PGRST_SERVER_HOST=127.0.0.1 PGRST_SERVER_PORT=$rest_port \
    begin postgrest "$postgrest"
  until listens "$rest_port"; do
    tenths=$((tenths + 1))
    [ -n "$(process_of postgrest)" ] && [ $tenths -lt 300 ] || die "PostgREST did not start: $(tail -n 3 "$run/postgrest.log")"
    sleep 0.1
  done
}

# OpenAI or a compatible server if configured, else a small model on this machine. Where that can't be
# had, or with EMBEDDING_MODEL=words-1, texts are compared by their words.
start_model() {
  if [ -n "${OPENAI_API_KEY:-}${OPENAI_BASE_URL:-}" ]; then return; fi
  local folder=$root/model # of a release
  [ -d "$folder" ] || folder=$local/model
  if [ "${EMBEDDING_MODEL:-}" = words-1 ]; then folder=''
  elif [ "$folder" = "$local/model" ] && ! TASKLENS_LOCAL=$local "$here/model" "$folder"; then folder=''
  fi
  PORT=0 MODEL_DIR=$folder begin model "$lab" model
  OPENAI_BASE_URL=$(address_of model)/v1
  EMBEDDING_MODEL=$(sed -n 's/^embedding model: //p' "$run/model.log")
  if [ "$EMBEDDING_MODEL" = words-1 ]; then
    say "No language model: search compares words and their stems (words-1)$(sed -n 's/^without a language model: /, because /p' "$run/model.log")."
  else
    say "No OPENAI_API_KEY: $EMBEDDING_MODEL embeds on this machine, and answers quote their sources (docs/models.md)."
  fi
  if listens 11434; then
    say 'Ollama runs here: OPENAI_BASE_URL=http://127.0.0.1:11434/v1 EMBEDDING_MODEL=… CHAT_MODEL=… ./scripts/demo uses its models.'
  fi
  export OPENAI_BASE_URL EMBEDDING_MODEL CHAT_MODEL=offline-chat
  # It is free, has no rate limit, and is slow where the processors have other work.
  export ENRICH_REQUESTS_PER_MINUTE=${ENRICH_REQUESTS_PER_MINUTE:-6000} MODEL_TIMEOUT=${MODEL_TIMEOUT:-2m}
}

# For scripts that use the running stack; see find_stack.
remember() {
  local name
  (umask 077 && for name in SUPABASE_URL SUPABASE_REST_URL SUPABASE_SCHEMA SUPABASE_SERVICE_ROLE_KEY OPENAI_BASE_URL OPENAI_API_KEY EMBEDDING_MODEL CHAT_MODEL ENRICH_REQUESTS_PER_MINUTE MODEL_TIMEOUT; do
    if [ -n "${!name:-}" ]; then printf '%s=%q\n' "$name" "${!name}"; fi
  done >"$run/env")
}

# Sets the addresses of the running demo, unless SUPABASE_URL names a project.
find_stack() {
  [ -z "${SUPABASE_URL:-}" ] || return 0
  [ -n "$(process_of owner)" ] || die 'start ./scripts/demo first, or set SUPABASE_URL and its key'
  [ -e "$run/env" ] || die 'the demo is still starting: wait until it says that the service answers'
  set -a
  # shellcheck source=/dev/null
  . "$run/env"
  set +a
}

# Runs a verb of the service on the running stack: the body of the scripts named after verbs.
run_verb() { # VERB ARGUMENT...
  case ${2:-} in
    -h | --help) usage ;;
  esac
  find_stack
  build ./server
  exec "$server" "$@"
}

# Converts files, and imports what that writes into the database that the settings name. Nothing of
# it lies on the disk. Returns the status of the first that failed.
import_files() { # OPTION... PATH...
  local converting=() importing=() word
  for word; do
    case $word in
      --take-over | --prune | --prune-many) importing+=("$word") ;;
      *) converting+=("$word") ;;
    esac
  done
  "$convert" "${converting[@]}" | "$server" import "${importing[@]}" -
  local codes=("${PIPESTATUS[@]}")
  [ "${codes[0]}" -lt 2 ] || return "${codes[0]}"
  return "${codes[1]}"
}

# Prints the script's leading comment.
usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0" >&2
  exit 2
}

# Waits until the started service responds on $PORT.
await_service() { # WHERE-TO-LOOK
  local tenths=0
  until listens "$PORT"; do
    tenths=$((tenths + 1))
    [ -n "$(process_of service)" ] && [ $tenths -lt 600 ] || die "the service did not start, see $1"
    sleep 0.1
  done
}
