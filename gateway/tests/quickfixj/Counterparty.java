import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import quickfix.*;

/** A session of QuickFIX/J as it is, with its data dictionaries: what breaks them is rejected, and is an error here. */
public class Counterparty implements Application {
    final String token;
    final List<Message> heard = new CopyOnWriteArrayList<>();
    final List<String> errors = new CopyOnWriteArrayList<>();
    volatile int logons = 0;
    static final BufferedReader IN = new BufferedReader(new InputStreamReader(System.in));
    SessionID id;

    Counterparty(String token) {
        this.token = token;
    }

    public void onCreate(SessionID session) {}

    public void onLogon(SessionID session) {
        logons++;
    }

    public void onLogout(SessionID session) {}

    public void toAdmin(Message message, SessionID session) {
        try {
            String kind = message.getHeader().getString(35);
            if (kind.equals("A")) message.setString(554, token);
            if (kind.equals("3")) errors.add("we reject: " + message);
        } catch (FieldNotFound error) {
            errors.add(error.toString());
        }
    }

    public void fromAdmin(Message message, SessionID session) {
        try {
            if (message.getHeader().getString(35).equals("3")) errors.add("rejected: " + message);
        } catch (FieldNotFound error) {
            errors.add(error.toString());
        }
    }

    public void toApp(Message message, SessionID session) {}

    public void fromApp(Message message, SessionID session) {
        heard.add(message);
    }

    static String get(Message message, int tag) {
        try {
            return message.isSetField(tag) ? message.getString(tag) : message.getHeader().isSetField(tag) ? message.getHeader().getString(tag) : "";
        } catch (FieldNotFound error) {
            return "";
        }
    }

    /** Tags and values, in turns. */
    static Predicate<Message> is(String... pairs) {
        return message -> {
            for (int at = 0; at < pairs.length; at += 2) {
                if (!get(message, Integer.parseInt(pairs[at])).equals(pairs[at + 1])) return false;
            }
            return true;
        };
    }

    Message until(String what, Predicate<Message> isIt) throws Exception {
        long end = System.currentTimeMillis() + 60_000;
        while (System.currentTimeMillis() < end) {
            if (!errors.isEmpty()) throw new Exception(what + ": " + errors);
            for (Message message : heard) {
                if (isIt.test(message)) {
                    System.out.println("seen: " + what);
                    return message;
                }
            }
            Thread.sleep(5);
        }
        throw new Exception(what + " did not come: " + heard);
    }

    Message send(String kind, String... pairs) throws Exception {
        Message message = new Message();
        message.getHeader().setString(35, kind);
        for (int at = 0; at < pairs.length; at += 2) message.setString(Integer.parseInt(pairs[at]), pairs[at + 1]);
        if (kind.equals("V")) {
            for (String type : new String[] {"0", "1"}) {
                Group group = new Group(267, 269);
                group.setString(269, type);
                message.addGroup(group);
            }
            Group group = new Group(146, 55);
            group.setString(55, "SIM001");
            message.addGroup(group);
        } else {
            message.setUtcTimeStamp(60, java.time.LocalDateTime.now(java.time.ZoneOffset.UTC));
        }
        Session.sendToTarget(message, id);
        return message;
    }

    void order(String name, String side, String quantity, String price) throws Exception {
        send("D", "11", name, "1", "9", "55", "SIM001", "54", side, "38", quantity, "40", "2", "44", price, "59", "0");
    }

    static void ask(String line) throws Exception {
        System.out.println(line);
        IN.readLine();
    }

    void waitForLogon(int count) throws Exception {
        long end = System.currentTimeMillis() + 60_000;
        while (logons < count || !Session.lookupSession(id).isLoggedOn()) {
            if (System.currentTimeMillis() > end) throw new Exception("no logon: " + errors);
            Thread.sleep(5);
        }
        System.out.println("logon " + count);
    }

    void run(String version, String port, String folder) throws Exception {
        SessionSettings settings = new SessionSettings();
        id = new SessionID(version, "DESK", "COLO");
        settings.setString("ConnectionType", "initiator");
        settings.setString("FileStorePath", folder);
        settings.setString("SocketConnectHost", "127.0.0.1");
        settings.setString("SocketConnectPort", port);
        settings.setString("StartTime", "00:00:00");
        settings.setString("EndTime", "00:00:00");
        settings.setString("HeartBtInt", "5");
        settings.setString("ReconnectInterval", "1");
        settings.setString("UseDataDictionary", "Y");
        if (version.equals("FIXT.1.1")) {
            settings.setString("DefaultApplVerID", "FIX.5.0SP2");
            settings.setString("TransportDataDictionary", "FIXT11.xml");
            settings.setString("AppDataDictionary", "FIX50SP2.xml");
        } else {
            settings.setString("DataDictionary", "FIX44.xml");
        }
        settings.setString(id, "BeginString", version);
        settings.setString(id, "SenderCompID", "DESK");
        settings.setString(id, "TargetCompID", "COLO");
        SocketInitiator initiator =
                new SocketInitiator(
                        this, new FileStoreFactory(settings), settings, new SLF4JLogFactory(settings), new DefaultMessageFactory());
        initiator.start();
        waitForLogon(1);

        order("a", "1", "10", "99.5");
        Message made = until("the order", is("35", "8", "150", "0", "11", "a"));
        send("G", "11", "b", "41", "a", "1", "9", "55", "SIM001", "54", "1", "38", "8", "40", "2", "44", "99.6");
        until("the replace", is("35", "8", "150", "5", "11", "b", "41", "a", "38", "8", "44", "99.6"));
        ask("SELL s1 3 99.6");
        until("the fill", is("35", "8", "150", "F", "11", "b", "14", "3", "151", "5", "31", "99.6"));
        send("F", "11", "c", "41", "b", "1", "9", "55", "SIM001", "54", "1", "38", "8");
        until("the cancel", is("35", "8", "150", "4", "11", "c", "41", "b", "37", get(made, 37)));
        send("F", "11", "d", "41", "b", "1", "9", "55", "SIM001", "54", "1", "38", "8");
        until("a cancel that is too late", is("35", "9", "11", "d", "102", "0"));
        order("tick", "1", "1", "99.123");
        until("a refusal", is("35", "8", "150", "8", "11", "tick", "58", "off-tick"));
        send("V", "262", "m", "263", "1", "264", "0", "265", "1");
        until("a snapshot", is("35", "W", "262", "m", "55", "SIM001"));

        for (int number = 0; number < 50; number++) order("k" + number, "1", "1", "98");
        ask("KILL");
        for (int number = 50; number < 60; number++) order("k" + number, "1", "1", "98");
        waitForLogon(2);
        for (int number = 0; number < 60; number++) {
            // Sent while nobody was there, or not acted upon: QuickFIX/J sends them again by itself.
            until("order " + number, is("35", "8", "11", "k" + number));
        }
        ask("SELL s2 2 98");
        until("the first fill after it", is("35", "8", "150", "F", "11", "k0"));
        until("the second fill after it", is("35", "8", "150", "F", "11", "k1"));

        // Numbers that are wrong: ours jump ahead, and the gap is filled.
        Session session = Session.lookupSession(id);
        session.setNextSenderMsgSeqNum(session.getExpectedSenderNum() + 10);
        order("after", "1", "1", "97");
        until("an order behind a gap", is("35", "8", "150", "0", "11", "after"));
        // Theirs are lost here: they come again, as possible duplicates.
        int count = heard.size();
        session.setNextTargetMsgSeqNum(2);
        order("last", "1", "1", "97");
        until("what was lost", is("35", "8", "11", "last"));
        until("a duplicate", message -> heard.indexOf(message) >= count && is("43", "Y", "150", "0", "11", "a").test(message));

        Set<String> ids = new HashSet<>();
        for (Message message : heard) {
            if (get(message, 35).equals("8") && !get(message, 43).equals("Y") && !ids.add(get(message, 17))) {
                throw new Exception("an ExecID twice: " + message);
            }
        }
        initiator.stop();
        if (!errors.isEmpty()) throw new Exception(errors.toString());
        System.out.println("GOOD");
    }

    public static void main(String[] arguments) {
        try {
            new Counterparty(arguments[2]).run(arguments[0], arguments[1], arguments[3]);
            System.exit(0);
        } catch (Throwable error) {
            System.out.println("BAD " + error);
            System.exit(1);
        }
    }
}
