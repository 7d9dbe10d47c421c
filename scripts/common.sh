# Shared by the scripts: where things are, and how work that takes long is shown. Sourced with the clone as current folder.

LOGS=.cache/logs
VENV=.venv
mkdir -p "$LOGS"

say() { printf '%s\n' "$*"; }
heading() { printf '\n== %s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# progress_of LOG: how far ninja or ctest say that they are: "12/345, " or nothing.
progress_of() {
  tail -c 400 -- "$1" 2>/dev/null | tr '\r' '\n' | sed -nE 's|^\[([0-9]+/[0-9]+)\].*|\1, |p; s|^ *([0-9]+/[0-9]+) Test +#.*|\1, |p' | tail -n 1
}

# step LABEL COMMAND...: runs the command with its output in a log. Says what runs and how long it took once that is
# over 2 s, keeps the progress and the seconds running on a terminal, and shows the end of the log when the command fails.
step() {
  local label=$1 log began=$SECONDS status=0 shown=
  shift
  log=$LOGS/$(printf '%s' "$label" | tr -cs 'a-zA-Z0-9' '-').log
  "$@" >"$log" 2>&1 </dev/null &
  local job=$!
  trap 'kill "$job" 2>/dev/null || true; exit 130' INT TERM
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - began >= 2)); then
      if [ -t 1 ]; then
        printf '\r%s ... %s%d s' "$label" "$(progress_of "$log")" $((SECONDS - began))
      elif [ -z "$shown" ]; then
        printf '%s ...' "$label"
      fi
      shown=yes
    fi
  done
  wait "$job" || status=$?
  trap - INT TERM
  if [ "$status" -ne 0 ]; then
    [ -z "$shown" ] || printf '\n'
    say "failed: $label (exit code $status); the end of $log:" >&2
    tail -n "${STEP_TAIL:-40}" "$log" >&2
    return "$status"
  fi
  [ -z "$shown" ] && return
  [ -t 1 ] && printf '\r\033[K%s ...' "$label"
  printf ' done in %d s\n' $((SECONDS - began))
}

# build PRESET [TARGET...]: configures once and builds. The compiler cache lies outside the clone, so that the next
# clone finds it, and NOHASHDIR with BASEDIR lets objects built in another folder count as the same.
build() {
  local preset=$1
  shift
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  if [ ! -f "build/$preset/build.ninja" ]; then
    step "configuring ($preset)" cmake --preset "$preset" -DPython_EXECUTABLE="$PWD/$VENV/bin/python"
  fi
  step "building ($preset)" cmake --build --preset "$preset" ${1:+--target "$@"}
}
