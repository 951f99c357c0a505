# shellcheck shell=bash
# What every script here shares: where the repository is, how steps are printed and timed, how root is had.
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export ROOT
cd "$ROOT" || exit

die() {
  echo "error: $*" >&2
  exit 1
}

now_us() { echo "${EPOCHREALTIME/[^0-9]/}"; }

seconds_since() {
  local tenths=$((($(now_us) - $1) / 100000))
  echo "$((tenths / 10)).$((tenths % 10)) s"
}

# step TITLE COMMAND...: says what is done, does it, says how long it took. A failing command ends the script.
step() {
  local title=$1 start
  shift
  start=$(now_us)
  echo "==> $title"
  "$@"
  echo "    $title: $(seconds_since "$start")"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and there is no sudo here. Run it as root: $*"
  fi
}

# One set-up or build at a time in one checkout; the lock ends with the script.
take_lock() {
  mkdir -p build
  exec 9>build/.lock
  if ! flock --nonblock 9; then
    echo "==> waiting for another script in this checkout"
    flock 9
  fi
}

# The names in a list file, without comments.
list_names() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -e 's/[[:space:]]*$//' "$1"; }
