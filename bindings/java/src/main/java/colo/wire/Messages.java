// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** All messages. */
public final class Messages {
    /** Version of the messages. */
    public static final int VERSION = 12;

    private Messages() {}

    /** A message of this kind, without bytes yet; null for an id that is not of this version. */
    public static Message create(int id) {
        return switch (id) {
            case 1 -> new Instrument();
            case 2 -> new Quote();
            case 3 -> new TradePrint();
            case 4 -> new BookEvent();
            case 5 -> new MarketPhase();
            case 6 -> new Indicative();
            case 7 -> new Best();
            case 8 -> new MarketTime();
            case 10 -> new NewOrder();
            case 11 -> new CancelOrder();
            case 12 -> new ReplaceOrder();
            case 13 -> new LatencySample();
            case 14 -> new CancelAll();
            case 15 -> new Statistics();
            case 16 -> new ClientOrder();
            case 17 -> new KeptOrder();
            case 20 -> new OrderUpdate();
            case 21 -> new Fill();
            case 30 -> new SnapshotBegin();
            case 31 -> new SnapshotEnd();
            case 32 -> new PositionState();
            case 40 -> new NodeEvent();
            case 41 -> new EndOfStream();
            case 50 -> new OrderImage();
            case 51 -> new MarketImage();
            case 52 -> new NewestOrder();
            case 53 -> new StateEnd();
            case 54 -> new DueTime();
            case 55 -> new StateBegin();
            case 56 -> new RecordImage();
            case 57 -> new BookImage();
            case 58 -> new TakenImage();
            case 59 -> new MarketRead();
            case 60 -> new AccountOpen();
            case 61 -> new AccountChange();
            case 62 -> new AccountLimit();
            case 63 -> new FeeRule();
            case 64 -> new MarginRule();
            case 65 -> new ContractTerms();
            case 66 -> new CurrencyRate();
            case 67 -> new SettlementPrice();
            case 68 -> new Settle();
            case 69 -> new EntryResult();
            case 70 -> new Mark();
            case 71 -> new AccountState();
            case 72 -> new DeskPart();
            default -> null;
        };
    }
}
