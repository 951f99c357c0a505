# shellcheck shell=bash
# Set-up and build, shared by all scripts.

# setup LIST...: the Debian lists beyond build's, then .venv.
setup() {
  step "Debian packages (build${*:+ $*})" install_debian_packages build "$@"
  step "Python environment" make_venv
  step "PyTorch" install_torch
  step "Python packages" install_python_packages build
}

# As many compilers as there are cores, but none without 2 GiB of its own: files that include torch take that.
build_jobs() {
  local cores memory_jobs
  cores=$(nproc)
  memory_jobs=$(awk '/^MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  [ "$memory_jobs" -ge 1 ] || memory_jobs=1
  echo "${BUILD_JOBS:-$((cores < memory_jobs ? cores : memory_jobs))}"
}

# Clones in other folders share what ccache knows.
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1

configure() {
  local preset=$1
  local configured=build/$preset/build.ninja
  # Ninja itself configures again when a CMake file changed; presets and a new interpreter are what it cannot see.
  if [ -f "$configured" ] && [ "$configured" -nt .venv/pyvenv.cfg ] && [ "$configured" -nt CMakePresets.json ]; then
    echo "    build/$preset is configured"
    return
  fi
  cmake --preset "$preset" --fresh >"build/configure-$preset.log" 2>&1 || {
    cat "build/configure-$preset.log" >&2
    die "cmake --preset $preset failed"
  }
}

compile() {
  local preset=$1
  shift
  cmake --build --preset "$preset" --parallel "$(build_jobs)" ${1:+--target "$@"}
}

# build_preset PRESET [TARGET]: everything, or one target.
build_preset() {
  step "Configure ($1)" configure "$1"
  step "Compile ($1${2:+: $2}, $(build_jobs) jobs)" compile "$@"
}

install_into_venv() {
  .venv/bin/python scripts/lib/editable.py build/ci
}

build_all() {
  build_preset ci
  step "Install into .venv" install_into_venv
}
