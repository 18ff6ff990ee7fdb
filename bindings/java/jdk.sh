# For `.`: finds a Java of 22 or newer, and what compiles for it. Sets JAVA; says on standard error why there is none.
#
#   COLO_JAVA   the `java` to use     COLO_JDK   a folder that `get-jdk` filled, by default ~/.cache/colo-jdk

java_of() { "$1" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = \([0-9]*\).*/\1/p'; }

find_java() {
    for JAVA in "${COLO_JAVA:-}" "$(command -v java)" /usr/lib/jvm/*/bin/java "${COLO_JDK:-$HOME/.cache/colo-jdk}/java-runtime/bin/java"; do
        if [ -x "$JAVA" ] && [ "$(java_of "$JAVA")" -ge 22 ] 2>/dev/null; then
            return 0
        fi
    done
    echo "no Java of 22 or newer: install one, or run bindings/java/get-jdk" >&2
    return 77
}

# compile RELEASE ARGUMENTS…: by the JDK's own compiler, or by ecj.
compile() {
    release=$1
    shift
    javac=$(dirname "$JAVA")/javac
    ecj=${COLO_JDK:-$HOME/.cache/colo-jdk}/ecj.jar
    if [ -x "$javac" ]; then
        "$javac" --release "$release" -proc:none -nowarn "$@"
    elif [ -f "$ecj" ]; then
        "$JAVA" -jar "$ecj" -source "$release" -target "$release" -proc:none -warn:none "$@"
    else
        echo "no compiler for $JAVA: install a JDK, or run bindings/java/get-jdk" >&2
        return 77
    fi
}

# What every program here is started with.
java_flags() { echo "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -Xshare:auto -XX:TieredStopAtLevel=4"; }
