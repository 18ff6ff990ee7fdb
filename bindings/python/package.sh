# For `.`: `find_python` sets `python` to an interpreter that is recent enough; `make_package FOLDER` makes the package in FOLDER, which
# then belongs into PYTHONPATH. Optimised, as what is measured and what trades is; COLO_PROFILE=dev is quicker to build. Ends with 77
# where a tool is missing.
find_python() {
    command -v cargo >/dev/null || { echo "cargo is missing" >&2; exit 77; }
    # The interpreter itself, where a script that looks for it goes before it in PATH.
    python=$("${COLO_PYTHON:-python3}" -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null) ||
        { echo "Python 3.11 or newer (${COLO_PYTHON:-python3}) is missing" >&2; exit 77; }
}

make_package() {
    profile=${COLO_PROFILE:-release}
    cargo build --quiet -p colo-python --profile "$profile"
    [ "$profile" != dev ] || profile=debug
    mkdir -p "$1/colo"
    echo "$python" > "$1/python"
    cp -R python/colo/. ../layout/journals.py "$1/colo"
    # In one step, so that a program that runs keeps its file.
    cp "${CARGO_TARGET_DIR:-../../target}/$profile/lib_colo.so" "$1/colo/new"
    mv "$1/colo/new" "$1/colo/_colo.abi3.so"
}
