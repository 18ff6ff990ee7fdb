package colo.node;

/** Ends the process with a code: 1 failed, 2 usage, 69 no master, 77 not permitted. */
public final class ExitException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public static final int FAILED = 1;
    public static final int USAGE = 2;
    public static final int NO_MASTER = 69;
    public static final int PERMISSION = 77;

    private final int code;

    public ExitException(int code, String message) {
        super(message);
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static int codeOf(Throwable error) {
        return error instanceof ExitException exit ? exit.code : FAILED;
    }
}
