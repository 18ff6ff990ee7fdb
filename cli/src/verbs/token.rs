//! `colo token`: who may use the gateway.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use gateway_tokens::{NewToken, Role, Token, TokenFile, now_s, unhex};
use node::Exit;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Format};

/// Tokens of the gateway's clients.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenVerb {
    /// Make a token; its secret is printed once, and kept nowhere.
    #[command(after_help = "\
Examples:
  colo token create desk --role trader --accounts 7,8 --file configs/tokens.json
  colo token create screen --expires 30d --file configs/tokens.json")]
    Create(Create),
    /// List them, without their secrets.
    List(List),
    /// Make one good for nothing; a running gateway knows within a second.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The file of tokens, as gateway.tokens has it.
    #[arg(long, value_name = "FILE", default_value = "tokens.json")]
    file: PathBuf,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArgument {
    /// Sees.
    Viewer,
    /// Sees, and sends orders.
    Trader,
    /// Sees, cancels, and uses the kill switch.
    Risk,
    /// All of it.
    Admin,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Who gets it.
    name: String,
    /// What it may.
    #[arg(long, value_enum, default_value = "viewer")]
    role: RoleArgument,
    /// For these accounts only, as in 7,8.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    accounts: Option<Vec<u32>>,
    /// It ends after so long, as in 30d.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    expires: Option<Duration>,
    /// The public Ed25519 key of its signed requests: 64 hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    signing_key: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The token's number, or its holder's name: then all of that name.
    token: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Made {
    id: String,
    name: String,
    role: &'static str,
    token: String,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    name: String,
    role: &'static str,
    accounts: Option<Vec<u32>>,
    good: bool,
    revoked: bool,
    expires_s: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Rows {
    tokens: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Revoked {
    revoked: Vec<String>,
}

pub(crate) fn dispatch(verb: &TokenVerb) -> Result<u8, Failure> {
    match verb {
        TokenVerb::Create(arguments) => create(arguments),
        TokenVerb::List(arguments) => list(arguments),
        TokenVerb::Revoke(arguments) => revoke(arguments),
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, error.to_string())
}

fn show<T: Serialize>(format: Format, value: &T, text: &str) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(value)?,
        Format::Text => output::print(text)?,
    }
    Ok(Exit::Done.code())
}

fn create(arguments: &Create) -> Result<u8, Failure> {
    if let Some(key) = &arguments.signing_key
        && unhex(key).is_none_or(|bytes| bytes.len() != 32)
    {
        return Err(Failure::new(
            Exit::Usage,
            "--signing-key is no Ed25519 key: write its 64 hexadecimal digits",
        ));
    }
    let role = match arguments.role {
        RoleArgument::Viewer => Role::Viewer,
        RoleArgument::Trader => Role::Trader,
        RoleArgument::Risk => Role::Risk,
        RoleArgument::Admin => Role::Admin,
    };
    let made = NewToken::make().map_err(failed)?;
    let token = Token {
        id: made.id.clone(),
        name: arguments.name.clone(),
        role,
        accounts: arguments.accounts.clone(),
        created: now_s(),
        expires: arguments.expires.map(|lasts| now_s().saturating_add(lasts.as_secs())),
        sha256: made.sha256,
        signing_key: arguments.signing_key.clone(),
        revoked: false,
    };
    change(&arguments.place.file, |file| file.tokens.push(token))?;
    let text = made.text.clone();
    let shown = Made { id: made.id, name: arguments.name.clone(), role: role.as_str(), token: made.text };
    show(arguments.place.format, &shown, &format!("{text}\n"))
}

fn change<T>(path: &Path, change: impl FnOnce(&mut TokenFile) -> T) -> Result<T, Failure> {
    TokenFile::change(path, change).map_err(failed)
}

fn list(arguments: &List) -> Result<u8, Failure> {
    let file = TokenFile::load(&arguments.place.file).map_err(failed)?;
    let now = now_s();
    let rows: Vec<Row> = file
        .tokens
        .into_iter()
        .map(|token| Row {
            good: token.is_good(now),
            role: token.role.as_str(),
            id: token.id,
            name: token.name,
            accounts: token.accounts,
            revoked: token.revoked,
            expires_s: token.expires,
        })
        .collect();
    let line = |row: &Row| {
        let accounts = match &row.accounts {
            None => "all accounts".to_owned(),
            Some(accounts) => {
                format!("accounts {}", accounts.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        let state = if row.revoked {
            "revoked"
        } else if row.good {
            "good"
        } else {
            "expired"
        };
        format!("{}  {:<7}  {:<7}  {accounts}  {}\n", row.id, row.role, state, row.name)
    };
    let text = match rows.is_empty() {
        true => format!("no tokens in {}\n", arguments.place.file.display()),
        false => rows.iter().map(line).collect(),
    };
    show(arguments.place.format, &Rows { tokens: rows }, &text)
}

fn revoke(arguments: &Revoke) -> Result<u8, Failure> {
    let revoked = change(&arguments.place.file, |file| {
        let is_meant = |token: &&mut Token| token.id == arguments.token || token.name == arguments.token;
        let meant = file.tokens.iter_mut().filter(is_meant);
        meant
            .map(|token| {
                token.revoked = true;
                token.id.clone()
            })
            .collect::<Vec<String>>()
    })?;
    if revoked.is_empty() {
        let message =
            format!("there is no token `{}` in {}", arguments.token, arguments.place.file.display());
        return Err(Failure::new(Exit::Usage, message));
    }
    let text = revoked.iter().map(|id| format!("{id} is revoked\n")).collect::<String>();
    show(arguments.place.format, &Revoked { revoked }, &text)
}
