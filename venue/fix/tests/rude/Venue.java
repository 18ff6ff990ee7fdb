import quickfix.*;

/** QuickFIX/J as the market, with its data dictionary: what breaks it is rejected, and is an error here. What an order meets depends on its number. */
public class Venue implements Application {
    int orders = 0;
    int execs = 0;

    public void onCreate(SessionID session) {}

    public void onLogon(SessionID session) {
        System.out.println("LOGON");
    }

    public void onLogout(SessionID session) {}

    public void toAdmin(Message message, SessionID session) {
        try {
            if (message.getHeader().getString(35).equals("3")) System.out.println("ERROR we reject: " + message);
        } catch (FieldNotFound error) {
            System.out.println("ERROR " + error);
        }
    }

    public void fromAdmin(Message message, SessionID session) {
        try {
            if (message.getHeader().getString(35).equals("3")) System.out.println("ERROR rejected: " + message);
        } catch (FieldNotFound error) {
            System.out.println("ERROR " + error);
        }
    }

    public void toApp(Message message, SessionID session) {}

    Message report(Message order, String type, String status, double filled) throws Exception {
        Message report = new Message();
        report.getHeader().setString(35, "8");
        report.setString(37, "V" + order.getString(11));
        report.setString(11, order.getString(11));
        report.setString(17, "x" + ++execs);
        report.setString(150, type);
        report.setString(39, status);
        report.setString(55, order.getString(55));
        report.setString(54, order.getString(54));
        report.setString(38, "10");
        report.setString(44, "100");
        report.setDouble(14, filled);
        report.setDouble(151, 10 - filled);
        report.setDouble(6, filled > 0 ? 100 : 0);
        report.setString(60, "20260102-03:04:05.678");
        return report;
    }

    Message trade(Message order, double quantity, double filled) throws Exception {
        Message report = report(order, "F", "1", filled);
        report.setDouble(31, 100);
        report.setDouble(32, quantity);
        return report;
    }

    public void fromApp(Message message, SessionID session) {
        try {
            String kind = message.getHeader().getString(35);
            System.out.println("HEARD " + kind);
            if (kind.equals("D")) order(message, session);
            if (kind.equals("H")) {
                boolean works = message.getString(11).endsWith("-1");
                Message status = report(message, "I", works ? "0" : "4", 0);
                status.setString(17, "0");
                Session.sendToTarget(status, session);
            }
            if (kind.equals("AN")) {
                Message answer = new Message();
                answer.getHeader().setString(35, "AO");
                answer.setString(721, "m1");
                answer.setString(710, message.getString(710));
                answer.setString(727, "0");
                answer.setString(728, "2");
                answer.setString(729, "0");
                answer.setString(1, message.getString(1));
                answer.setString(581, "1");
                Session.sendToTarget(answer, session);
            }
        } catch (Exception error) {
            System.out.println("ERROR " + error);
        }
    }

    void order(Message order, SessionID session) throws Exception {
        orders++;
        if (orders == 3) {
            Message reject = new Message();
            reject.getHeader().setString(35, "j");
            reject.setString(45, order.getHeader().getString(34));
            reject.setString(372, "D");
            reject.setString(380, "4");
            reject.setString(58, "not now");
            Session.sendToTarget(reject, session);
            return;
        }
        Session.sendToTarget(report(order, "0", "0", 0), session);
        if (orders == 1) {
            Message trade = trade(order, 4, 4);
            Session.sendToTarget(trade, session);
            Message bust = report(order, "H", "0", 0);
            bust.setString(19, trade.getString(17));
            bust.setDouble(31, 100);
            bust.setDouble(32, 4);
            Session.sendToTarget(bust, session);
        } else if (orders == 2) {
            Session.sendToTarget(report(order, "4", "4", 0), session);
            Session.sendToTarget(trade(order, 2.5, 2.5), session);
        } else {
            Session.sendToTarget(report(order, "3", "3", 0), session);
            Session.sendToTarget(trade(order, 7, 7), session);
        }
        System.out.println("ORDER " + orders);
    }

    public static void main(String[] arguments) throws Exception {
        SessionSettings settings = new SessionSettings();
        SessionID id = new SessionID("FIX.4.4", "RUDE", "DESK");
        settings.setString("ConnectionType", "acceptor");
        settings.setString("SocketAcceptAddress", "127.0.0.1");
        settings.setString("SocketAcceptPort", arguments[0]);
        settings.setString("StartTime", "00:00:00");
        settings.setString("EndTime", "00:00:00");
        settings.setString("HeartBtInt", "10");
        settings.setString(id, "BeginString", "FIX.4.4");
        settings.setString(id, "SenderCompID", "RUDE");
        settings.setString(id, "TargetCompID", "DESK");
        settings.setString(id, "UseDataDictionary", "Y");
        settings.setString(id, "DataDictionary", "FIX44.xml");
        SocketAcceptor acceptor = new SocketAcceptor(
                new Venue(), new MemoryStoreFactory(), settings, new DefaultMessageFactory());
        acceptor.start();
        System.out.println("READY");
        while (System.in.read() >= 0) {}
        acceptor.stop(true);
    }
}
