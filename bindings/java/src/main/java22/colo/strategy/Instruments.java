package colo.strategy;

import colo.wire.Instrument;
import colo.wire.Message;
import java.util.ArrayList;
import java.util.List;

/** The instruments that md has listed, and which of them the strategy reads. */
public final class Instruments {
    private final List<String> symbols;
    private final int robin;
    private final Instrument[] entries = new Instrument[Message.MAX_INSTRUMENTS];
    private final boolean[] selected = new boolean[Message.MAX_INSTRUMENTS];
    private int assigned;
    private int size;

    /** Of these symbols; else of the robin-th one; else, if that is negative, all. */
    Instruments(List<String> symbols, int robin) {
        this.symbols = symbols;
        this.robin = robin;
    }

    /** One by its number; null if it is not listed. */
    public Instrument get(int id) {
        return id > 0 && id < entries.length ? entries[id] : null;
    }

    /** One by its symbol; null if it is not listed. Makes garbage. */
    public Instrument bySymbol(String symbol) {
        for (Instrument instrument : entries) {
            if (instrument != null && instrument.symbol().equals(symbol)) {
                return instrument;
            }
        }
        return null;
    }

    /** True when the strategy reads it. */
    public boolean isSelected(int id) {
        return id > 0 && id < entries.length && selected[id];
    }

    /** Those that the strategy reads, by ascending number. */
    public List<Instrument> selected() {
        List<Instrument> all = new ArrayList<>();
        for (int id = 0; id < entries.length; id++) {
            if (selected[id]) {
                all.add(entries[id]);
            }
        }
        return all;
    }

    /** How many are listed. */
    public int size() {
        return size;
    }

    /** Lists one: -1, its number is impossible; 1, the strategy reads it from now on and did not before; else 0. */
    int list(Instrument listed) {
        int id = listed.id();
        if (id <= 0 || id >= entries.length) {
            return -1;
        }
        boolean before = selected[id];
        if (entries[id] == null) {
            entries[id] = new Instrument();
            size++;
        }
        entries[id].copy(listed);
        selected[id] = !symbols.isEmpty() ? symbols.contains(listed.symbol()) : robin < 0 || assigned == id;
        return selected[id] && !before ? 1 : 0;
    }

    /** With a round-robin: picks the one, now that the list is whole. */
    void assign() {
        if (!symbols.isEmpty() || robin < 0 || assigned != 0 || size == 0) {
            return;
        }
        int place = robin % size;
        for (int id = 0; id < entries.length; id++) {
            if (entries[id] != null && place-- == 0) {
                assigned = id;
                selected[id] = true;
                return;
            }
        }
    }

    List<String> missing() {
        return symbols.stream().filter(symbol -> bySymbol(symbol) == null).toList();
    }

    /** Topics to read; null: all. */
    int[] topics() {
        return symbols.isEmpty() && robin < 0 ? null : selected().stream().mapToInt(Instrument::id).toArray();
    }
}
