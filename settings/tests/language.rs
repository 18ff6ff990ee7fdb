//! A small language of its own, with each kind of table: what comes of right files and what is said about wrong ones.

use serde_json::json;
use settings::schema::{Absent, Groups, Kind, Section};
use settings::{Diagnostics, Document, Origin, Report, Severity, TimeOfDay, duration};
use std::collections::BTreeMap;
use std::time::Duration;

settings::words! {
    /// How loud.
    pub enum Volume ("volume") {
        /// Hardly heard.
        Quiet = "quiet",
        /// Heard next door.
        Loud = "loud",
    }
}

settings::section! {
    /// What every bell has.
    pub struct Common {
        /// How loud.
        volume: Volume = Volume::Quiet;
        /// How long it rings.
        #[serde(with = "duration")]
        length: Duration = Duration::from_secs(2);
    }
}

settings::section! {
    /// Bells that ring alike.
    pub struct Bell {
        /// The name.
        name: String = "bell".to_owned() => Kind::Parsed(&settings::forms::NAME);
        /// How often in an hour.
        count: u32 = 1 => Kind::Integer { min: 0, max: 60 };
        /// The first hour.
        from: Option<TimeOfDay> = None;
        /// How it rings.
        #[serde(flatten)]
        common: Common = Common::default();
    }
}

settings::section! {
    /// A keeper of bells.
    pub struct Keeper {
        /// Years of service.
        years: f64 = 0.0;
    }
}

settings::section! {
    /// A tower.
    pub struct Tower {
        /// Metres.
        height: f64 = 10.0 => Kind::Number { min: 1.0, max: 200.0 }, Absent::Required("write height = 30");
        /// The bells.
        bells: Vec<Bell> = vec![Bell::default()] => Kind::Groups(&Groups {
            table: <Bell as Section>::TABLE,
            doc: "Groups of bells.",
            unnamed: "write name = \"great\"",
        });
        /// Who keeps it, by name.
        keeper: BTreeMap<String, Keeper> = BTreeMap::new()
            => Kind::Named(&settings::forms::NAME, <Keeper as Section>::TABLE);
    }
}

const RIGHT: &str = "height = 30\n[bells]\nvolume = \"loud\"\n[[bells.group]]\nname = \"great\"\n\
                     [[bells.group]]\nname = \"small\"\nvolume = \"quiet\"\nfrom = \"06:00\"\n[keeper.Ada]\nyears = 3\n";

fn sets(sets: &[&str]) -> Vec<String> {
    sets.iter().map(|&set| set.to_owned()).collect()
}

fn wrong(text: &str, arguments: &[&str]) -> Diagnostics {
    settings::parse::<Tower>("tower.toml", text, &sets(arguments)).unwrap_err()
}

#[test]
fn groups_inherit_and_the_command_line_wins() {
    let tower = settings::parse::<Tower>(
        "tower.toml",
        RIGHT,
        &sets(&["bells.length=5s", "bells.group.small.count=4"]),
    )
    .unwrap();
    let [great, small] = &tower.value.bells[..] else { panic!("{:?}", tower.value) };
    assert_eq!((great.common.volume, small.common.volume), (Volume::Loud, Volume::Quiet));
    assert_eq!((great.common.length, small.count), (Duration::from_secs(5), 4));
    assert_eq!(small.from.unwrap().to_string(), "06:00:00");
    assert_eq!(tower.value.keeper["Ada"].years, 3.0);
    assert_eq!(tower.warnings.diagnostics, []);
}

#[test]
fn every_key_knows_its_origin() {
    let tower = settings::parse::<Tower>("tower.toml", RIGHT, &sets(&["bells.length=5s"])).unwrap();
    let settings = tower.rows.settings();
    let setting = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap();
    let file = |line| Origin::File { file: "tower.toml".to_owned(), line, column: 1 };
    assert_eq!(setting("height").origin, file(1));
    assert_eq!(setting("bells.group.great.volume").origin, file(3), "inherited");
    assert_eq!(setting("bells.group.small.volume").origin, file(8));
    assert_eq!(
        setting("bells.group.great.length").origin,
        Origin::Set { argument: "bells.length=5s".to_owned() }
    );
    assert_eq!(setting("bells.group.great.count").origin, Origin::Default);
    assert!(tower.rows.is_written("keeper.Ada.years") && tower.rows.has_table("bells.group.small"));
    assert!(settings.iter().all(|setting| !setting.doc.is_empty()));
}

#[test]
fn all_errors_come_at_once_in_the_order_of_the_file() {
    let text = "[bells]\nvolume = \"lout\"\nlength = 5\ncout = 2\nfrom = \"25:00\"\n[keeper.-x]\n[roof]\n";
    let said = wrong(text, &["bells.count=99"]);
    let lines: Vec<usize> =
        said.diagnostics.iter().filter_map(|one| one.location.as_ref()).map(|place| place.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 1], "{said}");
    assert_eq!(said.errors(), 8);
    let text = said.to_string();
    for part in [
        "`height` is missing",
        "did you mean \"loud\"?",
        "write its unit: \"5ms\" or \"5s\"",
        "did you mean `count`?",
        "is not a time of day",
        "unknown section [roof]",
        "must be an integer from 0 to 60",
        "--set:1:13",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn groups_need_names_of_their_own() {
    let said = wrong("height = 9\n[[bells.group]]\ncount = 1\n[[bells.group]]\nname = \"a\"\n", &[]);
    assert!(said.to_string().contains("this [[bells.group]] has no `name`"), "{said}");
    assert!(said.to_string().contains("write name = \"great\""), "{said}");
    let said = wrong("height = 9\n[bells]\nname = \"b\"\n[[bells.group]]\nname = \"a\"\n", &[]);
    assert!(said.to_string().contains("name each [[bells.group]]"), "{said}");
    let said = wrong(
        "height = 9\n[[bells.group]]\nname = \"a\"\n[[bells.group]]\nname = \"a\"\n",
        &["bells.group.b.count=1"],
    );
    assert!(said.to_string().contains("two [[bells.group]] are named `a`"), "{said}");
    assert!(said.to_string().contains("no [[group]] is named `b`"), "{said}");
}

#[test]
fn rules_between_keys_join_the_check() {
    let mut draft = Document::parse("tower.toml", "height = 300\n[bells]\ncount = 7\n", &[]).check::<Tower>();
    assert!(draft.is_whole() && draft.rows.is_bad("height") && !draft.rows.is_bad("bells"));
    assert_eq!(draft.rows.bad().collect::<Vec<_>>(), ["height"]);
    let place = draft.rows.place("bells.count");
    draft.report.warning(place, "an odd count").help("make it even");
    let said = draft.clone().finish().unwrap_err();
    assert_eq!((said.diagnostics.len(), said.errors()), (2, 1));
    assert_eq!(said.diagnostics[1].severity, Severity::Warning);
    assert!(said.to_string().contains("tower.toml:3:9"), "{said}");

    let mut right = Document::parse("tower.toml", "height = 30\n", &[]).check::<Tower>();
    right.rows.derive("height", 31);
    right.report.warning(None, "a low tower");
    let checked = right.finish().unwrap();
    assert_eq!(checked.rows.settings()[0].value_text(), "31");
    assert_eq!(checked.warnings.diagnostics.len(), 1);
    let mut later = Report::new(checked.rows.sources().clone());
    later.error(checked.rows.place("height"), "too low");
    assert!(later.finish().to_string().contains("tower.toml:1:10"));
}

#[test]
fn a_file_with_syntax_errors_says_so_and_is_not_whole() {
    let draft = Document::parse("tower.toml", "height = \n[bells]\ncount = 99\n", &[]).check::<Tower>();
    assert!(!draft.is_whole());
    let said = draft.finish().unwrap_err().to_string();
    assert!(said.contains("this is not TOML") && said.contains("must be an integer from 0 to 60"), "{said}");
    assert!(!said.contains("`height`"), "what follows from a garbled line would mislead: {said}");
}

#[test]
fn tables_put_together_by_a_program_show_the_places_that_they_came_from() {
    let whole = Document::parse("parts.toml", "[base.bells]\ncount = 99\n[own]\nheight = 30\n", &[]);
    let mut table = whole.root().table("own").unwrap().clone();
    table.inherit(whole.root().table("base").unwrap());
    table.put_default(&["height"], &json!(7));
    table.put_default(&["bells", "volume"], &json!("loud"));
    table.put_default(&["height", "inner"], &json!(7));
    let draft = Document::new(table, whole.sources().clone()).check::<Tower>();
    assert_eq!((draft.value.height, draft.value.bells[0].common.volume), (30.0, Volume::Loud));
    let said = draft.finish().unwrap_err();
    assert!(said.errors() == 1 && said.to_string().contains("parts.toml:2:9"), "{said}");
}

settings::section! {
    /// Its kind lets through what its type cannot hold.
    pub struct Disagreeing {
        /// A number, as the type says.
        number: u32 = 1 => Kind::Text;
    }
}

#[test]
fn a_language_that_contradicts_itself_is_an_error_and_no_panic() {
    let said = settings::parse::<Disagreeing>("x.toml", "number = \"one\"\n", &[]).unwrap_err();
    assert!(said.to_string().contains("schema and the types"), "{said}");
}

#[test]
fn the_json_schema_lists_every_key() {
    let schema = settings::json_schema::<Tower>("tower");
    assert_eq!((schema["title"].as_str(), &schema["required"]), (Some("tower"), &json!(["height"])));
    let bells = &schema["properties"]["bells"]["properties"];
    assert_eq!(bells["group"]["description"], "Groups of bells.");
    assert_eq!(bells["group"]["items"]["properties"]["volume"]["oneOf"][1]["const"], "loud");
    assert_eq!(bells["length"]["default"], "2s");
    assert_eq!(schema["properties"]["keeper"]["propertyNames"]["maxLength"], 48);
}
