# shellcheck shell=bash
# The virtual environment .venv and what pip puts there.
#   SETUP_PYTHON             the interpreter that makes .venv (default: /usr/bin/python3, else the first that fits)
#   SETUP_TORCH_REQUIREMENT  what pip is asked for instead of scripts/packages/python-torch.txt: a version or a wheel's path
#   SETUP_TORCH_INDEX_URL    the package index for torch alone, such as one of CPU builds
# Without the last two, pip's own configuration decides: the CPU build where it lists one, else the CUDA build.
VENV_STAMPS=.venv/setup-stamps

python_fits() {
  "$1" - 2>/dev/null <<'PY'
import ensurepip, os, sys, sysconfig, venv
headers = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(headers)))
PY
}

find_python() {
  local candidate
  for candidate in ${SETUP_PYTHON:-/usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null && python_fits "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  die "no Python >= 3.11 with venv and headers (Debian: python3-venv python3-dev); SETUP_PYTHON names one"
}

make_venv() {
  if [ -x .venv/bin/python ] && python_fits .venv/bin/python; then
    echo "    .venv has Python $(.venv/bin/python -c 'import platform; print(platform.python_version())')"
    return
  fi
  local python
  python=$(find_python)
  echo "    new .venv with $python"
  rm -rf .venv
  "$python" -m venv .venv
}

# pip_install NAME ARGUMENTS...: once per contents of the list, interpreter and arguments.
pip_install() {
  local name=$1 stamp key
  shift
  stamp=$VENV_STAMPS/$name
  key=$( (echo "$@" && cat "scripts/packages/python-$name.txt" && readlink -f .venv/bin/python) | sha256sum)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then
    echo "    $name: installed"
    return
  fi
  echo "    $name: pip install $*"
  .venv/bin/python -m pip install -qq --disable-pip-version-check "$@" </dev/null
  mkdir -p $VENV_STAMPS
  echo "$key" >"$stamp"
}

install_torch() {
  local requirement
  requirement=${SETUP_TORCH_REQUIREMENT:-$(list_names scripts/packages/python-torch.txt)}
  pip_install torch ${SETUP_TORCH_INDEX_URL:+--index-url "$SETUP_TORCH_INDEX_URL"} "$requirement"
  .venv/bin/python - <<'PY'
import importlib.util, os, runpy
version = runpy.run_path(os.path.join(os.path.dirname(importlib.util.find_spec("torch").origin), "version.py"))
print(f"    torch {version['__version__']} ({'CUDA ' + version['cuda'] if version['cuda'] else 'CPU'} build)")
PY
}

install_python_packages() {
  local list
  for list in "$@"; do
    pip_install "$list" --requirement "scripts/packages/python-$list.txt"
  done
}
