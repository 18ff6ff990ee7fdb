//! A market that does what markets do seldom, and the session with it. Raw FIX against the session and the driver, in one thread.

mod averages;
mod contradicts;
mod orders;
mod platform;
mod quickfixj;
mod sessions;
mod stops;
mod storms;
mod support;
mod table;
