//! One WebSocket of a DIFF session.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use super::asked::{Asked, ReqLogin};
use super::session::{self, Session, listed};
use super::trading::{self, Login};
use super::{Arrival, Bytes, Handle, KEPT, Place, SHARE};
use crate::http::Stream;
use crate::http::auth::Peer;
use crate::push::frame::{Decoder, Incoming, Kind, close, frame};
use crate::side;

/// A client's message may have so many bytes: names of a hundred thousand characters are subscribed to at once.
const LONGEST: usize = 512 << 10;

/// Why a session ends: the code and the reason to close with, or it is gone.
enum End {
    Close(u16, &'static str),
    Gone,
}

struct Connection {
    place: Rc<Place>,
    handle: Rc<Handle>,
    peer: Peer,
    reader: ReadHalf<Stream>,
    writer: WriteHalf<Stream>,
    decoder: Decoder,
    logins: HashMap<u32, Login>,
    /// Bytes kept for it.
    kept: Bytes,
}

pub(super) async fn serve(place: Rc<Place>, number: u64, arrival: Arrival) {
    let Arrival { socket, peer } = arrival;
    let Ok(stream) = side::stream(socket.socket) else { return };
    let _permit = socket.permit;
    let (reader, writer) = tokio::io::split(stream);
    let mut decoder = Decoder::new(LONGEST);
    decoder.add(&socket.early);
    let handle = Rc::new(Handle {
        session: RefCell::new(Session::default()),
        news: tokio::sync::Notify::new(),
        answer: RefCell::default(),
        tokens: RefCell::new(vec![socket.token]),
        end: Cell::default(),
        heard: Cell::new(Instant::now()),
        pinged: Cell::default(),
    });
    place.handles.borrow_mut().insert(number, Rc::clone(&handle));
    let mut connection = Connection {
        place: Rc::clone(&place),
        handle,
        peer,
        reader,
        writer,
        decoder,
        logins: HashMap::new(),
        kept: Bytes::none(&place.kept),
    };
    if let End::Close(code, reason) = connection.run().await {
        let last = close(code, reason);
        let _ = connection.write(&last).await;
        let _ = connection.writer.shutdown().await;
    }
    place.handles.borrow_mut().remove(&number);
}

impl Connection {
    async fn run(&mut self) -> End {
        let mut buffer = vec![0; 16 << 10];
        loop {
            if let Err(end) = self.hear().await {
                return end;
            }
            if let Err(end) = self.count() {
                return end;
            }
            self.place.tell(&self.handle);
            let answer = self.handle.answer.borrow_mut().take();
            if let Some(answer) = answer {
                let bytes = frame(Kind::Text, answer.text.as_bytes());
                if let Err(end) = self.write(&bytes).await {
                    return end;
                }
                continue;
            }
            if let Some((code, reason)) = self.handle.end.get() {
                return End::Close(code, reason);
            }
            let silent = self.handle.heard.get().elapsed();
            if silent > self.place.shared.config.ping && !self.handle.pinged.replace(true) {
                let ping = frame(Kind::Ping, b"");
                if let Err(end) = self.write(&ping).await {
                    return end;
                }
            }
            tokio::select! {
                read = self.reader.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => return End::Gone,
                    Ok(count) => {
                        self.handle.heard.set(Instant::now());
                        self.handle.pinged.set(false);
                        self.decoder.add(&buffer[..count]);
                    }
                },
                () = self.handle.news.notified() => {}
            }
        }
    }

    /// One that takes nothing for so long is let go.
    async fn write(&mut self, bytes: &[u8]) -> Result<(), End> {
        let all = async {
            self.writer.write_all(bytes).await?;
            self.writer.flush().await
        };
        match tokio::time::timeout(self.place.shared.config.write_deadline, all).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(End::Gone),
        }
    }

    /// Counts the bytes kept for the session, and ends a session beyond its limit: none of its messages is left out in silence.
    fn count(&mut self) -> Result<(), End> {
        let bytes = self.handle.session.borrow().bytes();
        self.kept.set(bytes + self.decoder.held());
        match bytes > session::KEPT || bytes > SHARE && self.place.kept.get() > KEPT {
            true => Err(End::Close(4001, "you ask for too much, or do not peek")),
            false => Ok(()),
        }
    }

    /// What has come, message by message.
    async fn hear(&mut self) -> Result<(), End> {
        loop {
            let message = self.decoder.next().map_err(|broken| End::Close(broken.0, broken.1))?;
            match message {
                None => return Ok(()),
                Some(Incoming::Ping(payload)) => {
                    let pong = frame(Kind::Pong, &payload);
                    self.write(&pong).await?;
                }
                Some(Incoming::Pong) => {}
                Some(Incoming::Close(_)) => return Err(End::Close(1000, "")),
                Some(Incoming::Binary(_)) => return Err(End::Close(1003, "say it as text")),
                Some(Incoming::Text(text)) => {
                    self.obey(&text).await;
                    self.count()?;
                }
            }
        }
    }

    fn notify(&self, level: &str, content: &str) {
        self.handle.session.borrow_mut().notify(self.place.now(), level, content);
    }

    async fn obey(&mut self, text: &str) {
        let asked = match Asked::read(text) {
            Ok(asked) => asked,
            Err(error) => return self.notify("ERROR", &error),
        };
        match asked {
            Asked::PeekMessage => self.handle.session.borrow_mut().peek(),
            Asked::SubscribeQuote { ins_list } => {
                let unknown =
                    self.handle.session.borrow_mut().subscribe(&ins_list, &self.place.board.borrow());
                if !unknown.is_empty() {
                    self.notify("WARNING", &format!("there are no instruments {}", listed(&unknown)));
                }
            }
            Asked::SetChart(chart) => {
                let needs = {
                    let board = self.place.board.borrow();
                    self.handle.session.borrow_mut().chart(chart, text.trim(), &board)
                };
                match needs {
                    Ok(needs) => {
                        for key in needs {
                            let is_known = self.place.board.borrow().series.contains_key(&key);
                            if !is_known {
                                self.place.refresh(key).await;
                            }
                        }
                    }
                    Err(error) => self.notify("ERROR", &error),
                }
            }
            Asked::ReqLogin(login) => self.login(&login),
            Asked::ConfirmSettlement => {}
            Asked::InsertOrder(order) => {
                trading::insert(&self.place, &self.handle, &self.logins, &self.peer, order);
            }
            Asked::CancelOrder { user_id, order_id } => {
                trading::cancel(&self.place, &self.handle, &self.logins, &user_id, order_id);
            }
            Asked::Other => self.notify("WARNING", "this kind of message is not answered here"),
        }
    }

    fn login(&mut self, asked: &ReqLogin) {
        match trading::login(&self.place, asked, &self.peer) {
            Ok((account, login)) => {
                let token = std::sync::Arc::clone(&login.identity.token);
                let mut tokens = self.handle.tokens.borrow_mut();
                if tokens.iter().all(|known| known.id != token.id) {
                    tokens.push(token);
                }
                drop(tokens);
                self.logins.insert(account, login);
                self.handle.session.borrow_mut().login(account);
                self.place.follow(true);
                self.notify("INFO", &format!("account {account} is logged in"));
            }
            Err(error) => self.notify("ERROR", &format!("no login: {error}")),
        }
    }
}
