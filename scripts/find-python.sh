#!/bin/sh
# Print "use:" and an interpreter to make .venv with, or else one line that says what to install.
#
#     sh scripts/find-python.sh python3

wanted=$1

look='import sys; print("%d.%d.%d" % sys.version_info[:3]); sys.exit(sys.version_info < (3, 11))'
seen= bare=

for python in "$wanted" python3.13 python3.12 python3.11; do
    if version=$("$python" -c "$look" 2>/dev/null); then
        if command -v uv >/dev/null 2>&1 || "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "use:$python"
            exit
        fi
        bare=${bare:-$version}
    elif [ "$python" = "$wanted" ]; then
        seen=$version
    fi
done

if [ -n "$bare" ]; then
    echo "Python $bare has no venv module: install the package python${bare%.*}-venv, or uv, and try again"
elif command -v uv >/dev/null 2>&1; then
    echo "use:3.12" # uv looks for one in more places, and can fetch it
elif [ -n "$seen" ]; then
    echo "Python 3.11 or later is needed and $wanted is $seen: install python3.12, or set PYTHON to another"
else
    echo "Python 3.11 or later is needed and there is no $wanted: install python3.12, or set PYTHON to another"
fi
