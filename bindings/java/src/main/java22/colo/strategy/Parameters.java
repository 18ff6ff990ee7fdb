package colo.strategy;

import colo.node.ExitException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** {@code params} of the platform file, with those of --param over them. A name that nobody asks for is an error. */
public final class Parameters {
    private final Map<String, Object> values;
    private final Set<String> unasked;

    public Parameters(Map<String, Object> values) {
        this.values = values;
        this.unasked = new HashSet<>(values.keySet());
    }

    private <T> T get(String name, T otherwise, Class<T> type) {
        unasked.remove(name);
        Object value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        if (!type.isInstance(value)) {
            throw wrong(name, "is " + value + ", but must be a " + type.getSimpleName().toLowerCase(java.util.Locale.ROOT));
        }
        return type.cast(value);
    }

    public long number(String name, long otherwise) {
        return get(name, otherwise, Long.class);
    }

    public String text(String name, String otherwise) {
        return get(name, otherwise, String.class);
    }

    public boolean is(String name, boolean otherwise) {
        return get(name, otherwise, Boolean.class);
    }

    /** A number that must be at least so much. */
    public long atLeast(long least, String name, long otherwise) {
        long value = number(name, otherwise);
        if (value < least) {
            throw wrong(name, "must be at least " + least);
        }
        return value;
    }

    /** A parameter has an invalid value. */
    public static ExitException wrong(String name, String problem) {
        return new ExitException(ExitException.USAGE, "`" + name + "` " + problem);
    }

    void demandAllAsked() {
        if (!unasked.isEmpty()) {
            throw new ExitException(ExitException.USAGE,
                "parameters " + unasked + " are not known; see `params` of the strategy in the platform file, and --param");
        }
    }
}
