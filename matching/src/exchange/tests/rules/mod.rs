//! Each rule of the module's documentation as a small example. They hold for the model and for the engine.

mod auctions;
mod bands;
mod continuous;
mod dates;
mod entering;
mod icebergs;
mod listing;
mod minimum;
mod phases;
mod prices;
mod replace;
mod room;
mod self_trade;
mod stops;
