package colo.node;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as master's answers need: maps, lists, text, whole numbers, others, booleans, null. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value. */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.wrong("nothing more");
        }
        return value;
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("no JSON at character " + at + ": " + wanted + " is wanted");
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean take(char letter) {
        space();
        if (at < text.length() && text.charAt(at) == letter) {
            at++;
            return true;
        }
        return false;
    }

    private void demand(char letter) {
        if (!take(letter)) {
            throw wrong("`" + letter + "`");
        }
    }

    private Object value() {
        space();
        if (take('{')) {
            Map<String, Object> map = new LinkedHashMap<>();
            if (take('}')) {
                return map;
            }
            do {
                space();
                demand('"');
                String name = string();
                demand(':');
                map.put(name, value());
            } while (take(','));
            demand('}');
            return map;
        }
        if (take('[')) {
            List<Object> list = new ArrayList<>();
            if (take(']')) {
                return list;
            }
            do {
                list.add(value());
            } while (take(','));
            demand(']');
            return list;
        }
        if (take('"')) {
            return string();
        }
        int from = at;
        while (at < text.length() && "+-.".indexOf(text.charAt(at)) >= 0 || at < text.length() && Character.isLetterOrDigit(text.charAt(at))) {
            at++;
        }
        String word = text.substring(from, at);
        return switch (word) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            case "null" -> null;
            default -> number(word);
        };
    }

    private Object number(String word) {
        try {
            return word.matches("-?\\d+") ? (Object) Long.parseLong(word) : (Object) Double.parseDouble(word);
        } catch (NumberFormatException error) {
            throw wrong("a value");
        }
    }

    private String string() {
        StringBuilder read = new StringBuilder();
        while (true) {
            if (at >= text.length()) {
                throw wrong("the end of a text");
            }
            char letter = text.charAt(at++);
            if (letter == '"') {
                return read.toString();
            }
            if (letter != '\\') {
                read.append(letter);
                continue;
            }
            if (at >= text.length()) {
                throw wrong("the end of a text");
            }
            char escaped = text.charAt(at++);
            switch (escaped) {
                case 'n' -> read.append('\n');
                case 't' -> read.append('\t');
                case 'r' -> read.append('\r');
                case 'b' -> read.append('\b');
                case 'f' -> read.append('\f');
                case 'u' -> {
                    if (at + 4 > text.length()) {
                        throw wrong("four digits");
                    }
                    read.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> read.append(escaped);
            }
        }
    }

    /** Text in quotes. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                quoted.append('\\').append(letter);
            } else if (letter < ' ') {
                quoted.append(String.format("\\u%04x", (int) letter));
            } else {
                quoted.append(letter);
            }
        }
        return quoted.append('"').toString();
    }
}
