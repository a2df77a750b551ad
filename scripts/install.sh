#!/bin/sh
# Install the project into .venv, with the versions that constraints.txt pins. Makes .venv when there is none.
#
#     sh scripts/install.sh python3 [test|dev]
#
# Leaves a stamp for each set of dependencies that is now complete; the Makefile compares their age with what they were
# made from. Run in the project's folder.

set -eu

python=$1
extra=${2-}

# A virtual environment that was moved still runs, but what is in it belongs to the folder where it was made.
usable() {
    [ ! -e .venv/.made-in ] || [ "$(cat .venv/.made-in)" = "$(pwd -P)" ] || return 1
    .venv/bin/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

with_uv() { command -v uv >/dev/null 2>&1; }

if ! usable; then
    echo "Making .venv with $python"
    rm -rf .venv
    if with_uv; then
        uv venv --quiet --seed --python "$python" .venv # --seed: pip is there even if uv is not, next time
    else
        "$python" -m venv .venv
    fi
fi

echo "Installing into .venv what constraints.txt pins${extra:+, for $extra too}: a minute at the first time"
rm -f .venv/.with-*
target=.${extra:+[$extra]}
if with_uv; then
    uv pip install --compile-bytecode --python .venv/bin/python -c constraints.txt -b constraints.txt --editable "$target"
else
    # Variables, because an older pip has no option for the versions of what builds a project. The paths are relative:
    # pip splits them at spaces.
    PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
        .venv/bin/python -m pip install --editable "$target"
fi

# Where PYTHONDONTWRITEBYTECODE is set nobody would do it later, and every run would compile what it loads.
.venv/bin/python -m compileall -q src selfcheck || true # a folder that cannot be written to is no obstacle

pwd -P >.venv/.made-in
touch .venv/.with-core
case $extra in test) touch .venv/.with-test ;; dev) touch .venv/.with-test .venv/.with-dev ;; esac
