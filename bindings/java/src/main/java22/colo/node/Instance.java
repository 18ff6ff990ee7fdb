package colo.node;

import colo.journal.Native;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Set;

/** The folder of an instance, and its master. */
final class Instance {
    private static final int PROTOCOL = 2;
    private static final long ANSWER_WITHIN_MS = 60_000;

    private final String name;
    private final Path root;
    private final boolean isCustom;

    Instance(String name) {
        if (!name.matches("[a-z0-9_-]{1,32}")) {
            throw new ExitException(ExitException.USAGE, "`" + name + "` is no name of an instance: 1 to 32 of a-z, 0-9, - and _");
        }
        String custom = System.getenv("COLO_ROOT");
        this.name = name;
        this.isCustom = custom != null && !custom.isEmpty();
        this.root = Path.of(isCustom ? custom : "/dev/shm/colo-" + Native.user()).normalize();
    }

    Path folder() {
        return root.resolve(name);
    }

    Path journals() {
        return folder().resolve("journals");
    }

    /** Rings lie beside their pages, or on a file system of huge pages. */
    Path rings(String huge) {
        if (huge == null) {
            return journals();
        }
        String user = "colo-" + Native.user() + (isCustom ? root.toString().replace('/', '-') : "");
        return Path.of(huge, user, name);
    }

    /** Refuses folders of others: what is read there decides what this process writes. */
    void demandOwn() {
        for (Path path : new Path[] {root, folder()}) {
            try {
                Map<String, Object> found = Files.readAttributes(path, "unix:uid,permissions,isDirectory", LinkOption.NOFOLLOW_LINKS);
                @SuppressWarnings("unchecked")
                Set<PosixFilePermission> may = (Set<PosixFilePermission>) found.get("permissions");
                if (!Boolean.TRUE.equals(found.get("isDirectory")) || (int) found.get("uid") != Native.user()
                    || may.contains(PosixFilePermission.GROUP_WRITE) || may.contains(PosixFilePermission.OTHERS_WRITE)) {
                    throw new ExitException(ExitException.PERMISSION,
                        path + " is no folder of this user's own, or others can write it: it is not used");
                }
            } catch (NoSuchFileException error) {
                throw new ExitException(ExitException.NO_MASTER,
                    "there is no instance `" + name + "` (" + path + "): start it with `colo up`");
            } catch (IOException error) {
                throw new ExitException(ExitException.PERMISSION, error.toString());
            }
        }
    }

    /** Asks master for the seat of a node. */
    Assignment register(String node) {
        String request = "{\"register\":{\"version\":" + PROTOCOL + ",\"node\":" + Json.quote(node) + ",\"pid\":"
            + ProcessHandle.current().pid() + "}}\n";
        String answer;
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.connect(UnixDomainSocketAddress.of(folder().resolve("master.sock")));
            ByteBuffer line = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                socket.write(line);
            }
            answer = read(socket);
        } catch (IOException error) {
            throw new ExitException(ExitException.NO_MASTER, "no master runs instance `" + name + "`: " + error);
        }
        Object said;
        try {
            said = Json.parse(answer);
        } catch (IllegalArgumentException error) {
            throw new ExitException(ExitException.FAILED, "master's answer is not understood: " + error.getMessage());
        }
        return assignment(node, said);
    }

    @SuppressWarnings("unchecked")
    private static Assignment assignment(String node, Object said) {
        if (said instanceof Map<?, ?> answer && answer.get("assigned") instanceof Map<?, ?> assigned) {
            return Assignment.of((Map<String, Object>) assigned);
        }
        Object reason = said instanceof Map<?, ?> answer && answer.get("refused") instanceof Map<?, ?> refused ? refused.get("reason") : said;
        throw new ExitException(ExitException.FAILED, "master refuses node `" + node + "`: " + reason);
    }

    private static String read(SocketChannel socket) throws IOException {
        // Java has no time-out here: who waits too long closes the channel under the reader.
        Thread patience = Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(ANSWER_WITHIN_MS);
                socket.close();
            } catch (InterruptedException | IOException error) {
                // The answer came.
            }
        });
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        ByteBuffer part = ByteBuffer.allocate(1 << 16);
        while (socket.read(part) >= 0) {
            all.write(part.array(), 0, part.position());
            part.clear();
        }
        patience.interrupt();
        return all.toString(StandardCharsets.UTF_8);
    }
}
