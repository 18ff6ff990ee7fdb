# For `.`: builds the library, and sets `library` to it. Optimised, as what is measured and what trades is; COLO_PROFILE=dev is
# quicker to build. Ends with 77 where a tool is missing; `cc` and `c++` are looked for under the name that is given.
find_library() {
    command -v cargo >/dev/null || { echo "cargo is missing" >&2; exit 77; }
    command -v "$1" >/dev/null || { echo "a compiler ($1) is missing" >&2; exit 77; }
    profile=${COLO_PROFILE:-release}
    cargo build --quiet -p colo-c --profile "$profile"
    [ "$profile" != dev ] || profile=debug
    # Wherever cargo's folder is: beside the workspace, or where the environment says.
    library=${CARGO_TARGET_DIR:-../../target}/$profile/libcolo_c.a
}
