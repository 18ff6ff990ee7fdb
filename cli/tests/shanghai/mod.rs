//! A small day in Shanghai, as the exchange would publish it: both auctions, orders that trade at once with and without
//! a remainder, cancels, and snapshots.

#![allow(dead_code, reason = "no test program uses all of it")]

/// `BizIndex` 1 to 27 are shared by both files.
pub(crate) const ORDERS: &str = "\
SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex
600000,09:15:01.000,A,1,10,100,B,1
600000,09:15:02.000,A,2,10.02,300,B,2
600000,09:16:00.000,A,3,9.99,200,S,3
600000,09:17:00.000,A,4,10.02,200,S,4
600000,09:18:00.000,A,5,10.05,100,S,5
600000,09:18:30.000,A,6,9.9,100,B,6
600000,09:19:00.000,D,6,9.9,100,B,7
600000,09:21:00.000,A,7,9.98,500,B,8
600000,09:30:02.000,A,9,10.05,200,S,13
600000,09:30:03.000,A,10,10.05,50,B,16
600000,10:01:00.000,A,12,10,100,B,19
600000,10:03:00.000,D,7,9.98,500,B,22
600000,13:00:00.000,A,14,10.1,100,S,23
600000,14:57:01.000,A,15,10.1,60,B,24
600000,14:58:00.000,A,16,10.06,40,S,25
";

/// Orders 8, 11 and 13 trade in full when they come in, and are never published.
pub(crate) const TRADES: &str = "\
SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex
600000,09:25:00.900,10.02,200,,2,3,N,9
600000,09:25:00.900,10.02,100,,2,4,N,10
600000,09:30:01.000,10.02,100,,8,4,B,11
600000,09:30:01.000,10.05,50,,8,5,B,12
600000,09:30:03.000,10.05,50,,10,5,B,14
600000,09:30:03.000,10.05,200,,10,9,B,15
600000,10:00:00.000,10.05,50,,10,11,S,17
600000,10:00:00.000,10,50,,1,11,S,18
600000,10:02:00.000,10,50,,1,13,S,20
600000,10:02:00.000,10,70,,12,13,S,21
600000,15:00:00.500,10.1,40,,15,16,N,26
600000,15:00:00.500,10.1,20,,15,14,N,27
";

/// Six of continuous trading; the others are not compared.
pub(crate) const SNAPSHOTS: &str = "\
SecurityID,InstruStatus,TradNumber,AskPrice1,AskVolume1,AskPrice2,AskVolume2,AskPrice3,AskVolume3,AskPrice4,AskVolume4,AskPrice5,AskVolume5,AskPrice6,AskVolume6,AskPrice7,AskVolume7,AskPrice8,AskVolume8,AskPrice9,AskVolume9,AskPrice10,AskVolume10,BidPrice1,BidVolume1,BidPrice2,BidVolume2,BidPrice3,BidVolume3,BidPrice4,BidVolume4,BidPrice5,BidVolume5,BidPrice6,BidVolume6,BidPrice7,BidVolume7,BidPrice8,BidVolume8,BidPrice9,BidVolume9,BidPrice10,BidVolume10,NumOrdersB1,NumOrdersB2,NumOrdersB3,NumOrdersB4,NumOrdersB5,NumOrdersB6,NumOrdersB7,NumOrdersB8,NumOrdersB9,NumOrdersB10,NumOrdersS1,NumOrdersS2,NumOrdersS3,NumOrdersS4,NumOrdersS5,NumOrdersS6,NumOrdersS7,NumOrdersS8,NumOrdersS9,NumOrdersS10
600000,START,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
600000,OCALL,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
600000,TRADE,2,10.02,100,10.05,100,,,,,,,,,,,,,,,,,10,100,9.98,500,,,,,,,,,,,,,,,,,1,1,,,,,,,,,1,1,,,,,,,,
600000,TRADE,4,10.05,250,,,,,,,,,,,,,,,,,,,10,100,9.98,500,,,,,,,,,,,,,,,,,1,1,,,,,,,,,2,,,,,,,,,
600000,TRADE,6,,,,,,,,,,,,,,,,,,,,,10.05,50,10,100,9.98,500,,,,,,,,,,,,,,,1,1,1,,,,,,,,,,,,,,,,,
600000,TRADE,8,,,,,,,,,,,,,,,,,,,,,10,150,9.98,500,,,,,,,,,,,,,,,,,2,1,,,,,,,,,,,,,,,,,,
600000,TRADE,10,,,,,,,,,,,,,,,,,,,,,10,30,,,,,,,,,,,,,,,,,,,1,,,,,,,,,,,,,,,,,,,
600000,TRADE,10,10.1,100,,,,,,,,,,,,,,,,,,,10,30,,,,,,,,,,,,,,,,,,,1,,,,,,,,,,1,,,,,,,,,
600000,CCALL,10,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
";

/// The same file in the layout of another vendor: other headers, flags, clocks, and names of stocks.
pub(crate) fn second_layout(text: &str) -> String {
    let (header, rows) = text.split_once('\n').expect("a header line");
    let names: Vec<&str> = header.split(',').collect();
    let renamed = names.iter().map(|name| match *name {
        "OrderTime" | "TradTime" => "MDTime",
        "Balance" => "OrderQty",
        "BizIndex" => "ApplSeqNum",
        "TradPrice" => "TradePrice",
        "TradVolume" => "TradeQty",
        name => name,
    });
    let mut second = renamed.collect::<Vec<_>>().join(",") + "\n";
    for row in rows.lines() {
        let values = names.iter().zip(row.split(',')).map(|(name, value)| match (*name, value) {
            ("OrderTime" | "TradTime", clock) => {
                let digits: String = clock.chars().filter(char::is_ascii_digit).collect();
                digits.trim_start_matches('0').to_owned()
            }
            ("OrderType", "A") => "2".to_owned(),
            ("OrderType", "D") => "10".to_owned(),
            ("OrderBSFlag" | "TradeBSFlag", "B") => "1".to_owned(),
            ("OrderBSFlag" | "TradeBSFlag", "S") => "2".to_owned(),
            ("TradeBSFlag", "N") => "0".to_owned(),
            ("SecurityID", stock) => format!("{stock}.SH"),
            (_, value) => value.to_owned(),
        });
        second += &(values.collect::<Vec<_>>().join(",") + "\n");
    }
    second
}
