//! `colo check` asks strategies about their parameters.

mod home;

use std::os::unix::fs::PermissionsExt;

use home::{Home, stderr};

fn written(home: &Home, name: &str, text: &str) -> String {
    let path = home.state_path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

fn program(home: &Home, name: &str, text: &str) -> String {
    let path = written(home, name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

fn platform(home: &Home, groups: &str) -> String {
    let text = format!(
        "[platform]\ninstance = 'asked'\n[md]\nsource = 'sim'\n[strategies]\nparams = {{ max_position = 3, odd = 1 }}\n{groups}"
    );
    written(home, "asked.toml", &text)
}

#[test]
fn what_a_built_in_strategy_does_not_take_is_said_before_anything_starts() {
    let home = Home::new();
    let group = |name: &str, more: &str| format!("[[strategies.group]]\nname = '{name}'\ncount = 1\n{more}");
    let file = platform(&home, &(group("plain", "") + &group("hosted", "host = { name = 'desk' }\n")));
    let checked = home.colo(&["check", &file]);
    let said = stderr(&checked);
    assert_eq!(checked.status.code(), Some(2), "{said}");
    for group in ["`plain`", "`hosted`"] {
        let line = said.lines().find(|line| line.contains(group)).expect("a line for each group");
        assert!(line.contains("unknown field `odd`") && line.contains("max_position"), "{line}");
    }
    // An empty table takes nothing over, and the command line still adds to it.
    let file = platform(&home, &group("plain", "params = {}\n"));
    let checked = home.colo(&["check", &file]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let checked = home.colo(&["check", &file, "--set", "strategies.params.strange=1"]);
    assert!(stderr(&checked).contains("unknown field `strange`"), "{}", stderr(&checked));
}

#[test]
fn a_program_is_asked_and_one_that_does_not_answer_is_let_be() {
    let home = Home::new();
    let group = |name: &str, program: &str| {
        format!("[[strategies.group]]\nname = '{name}'\nprogram = '{program}'\ncount = 2\n")
    };
    let picky = program(
        &home,
        "picky",
        "#!/bin/sh\n[ \"$1\" = --check-params ] && echo \"colo parameters: $3 is not liked\"\nexit 2\n",
    );
    let content = program(&home, "content", "#!/bin/sh\necho 'colo parameters:'\n");
    let other = program(&home, "other", "#!/bin/sh\necho 'what?'\nexit 2\n");
    // It holds its output open for longer than anybody waits.
    let silent = program(&home, "silent", "#!/bin/sh\nexec sleep 600\n");
    let file = platform(&home, &(group("one", &content) + &group("two", &other) + &group("three", &silent)));
    let checked = home.colo(&["check", &file]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    assert!(stderr(&checked).contains("silent does not say"), "{}", stderr(&checked));
    let checked = home.colo(&["check", &platform(&home, &group("one", &picky))]);
    assert_eq!(checked.status.code(), Some(2), "{}", stderr(&checked));
    assert!(stderr(&checked).contains("group `one`") && stderr(&checked).contains("=3 is not liked"));
}
