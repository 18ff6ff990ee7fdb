package colo.journal;

import java.nio.file.Path;

/** A reader with windows as small as a test needs them. */
public final class Windows {
    private Windows() {}

    public static MappedReader open(Path folder, String name, int shift) {
        return MappedReader.open(folder.resolve(name + ".ctl"), folder.resolve(name + ".ring"), shift);
    }
}
