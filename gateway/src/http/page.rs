//! The page to look at: files that are part of the program. They are open; what they show needs a token.

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, HeaderValue};

use super::answer::{Answer, fixed};

const ASSETS: [(&str, &str, &[u8]); 10] = [
    ("index.html", "text/html; charset=utf-8", include_bytes!("page/index.html")),
    ("page.css", "text/css", include_bytes!("page/page.css")),
    ("page.js", "text/javascript", include_bytes!("page/page.js")),
    ("api.js", "text/javascript", include_bytes!("page/api.js")),
    ("parts.js", "text/javascript", include_bytes!("page/parts.js")),
    ("trace.js", "text/javascript", include_bytes!("page/trace.js")),
    ("words.js", "text/javascript", include_bytes!("page/words.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
    ("uplot.js", "text/javascript", include_bytes!("page/vendor/uPlot.esm.js")),
    ("uplot.css", "text/css", include_bytes!("page/vendor/uPlot.min.css")),
];

/// One of its files.
pub(super) fn asset(name: &str) -> Option<Answer> {
    let (_, content_type, bytes) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    let mut answer = fixed(Bytes::from_static(bytes), content_type);
    // A newer program may answer the next time.
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(answer)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_page_has_at_most_a_hundred_kilobytes_compressed() {
        let compressed = |bytes: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap().len()
        };
        let size: usize = ASSETS.iter().map(|(.., bytes)| compressed(bytes)).sum();
        assert!(size <= 100_000, "{size}");
    }

    #[test]
    fn the_page_asks_nobody_else_and_has_no_script_or_style_within() {
        for (name, _, bytes) in ASSETS.iter().filter(|(name, ..)| !name.starts_with("uplot")) {
            let text = std::str::from_utf8(bytes).unwrap();
            let is_foreign = |at: usize| !text[at..].starts_with("http://www.w3.org/2000/svg");
            let mut links = text.match_indices("http://").chain(text.match_indices("https://"));
            assert!(!links.any(|(at, _)| is_foreign(at)), "{name} names another place");
            if name.ends_with(".html") {
                assert!(!text.contains("<style") && !text.contains("style="), "{name} has styles within");
                assert!(
                    !text.contains("<script>") && !text.contains(" onclick"),
                    "{name} has scripts within"
                );
            }
        }
    }

    #[test]
    fn every_word_of_the_page_is_there_in_both_languages() {
        let words = std::str::from_utf8(include_bytes!("page/words.js")).unwrap();
        let (english, chinese) = words.split_once("const zh").unwrap();
        let chinese = chinese.split("};").next().unwrap();
        let keys = |text: &str| -> std::collections::BTreeSet<String> {
            let lines = text.lines().filter(|line| line.starts_with("  "));
            lines.filter_map(|line| Some(line.trim().split_once(": '")?.0.to_owned())).collect()
        };
        assert!(keys(english).len() > 50);
        assert_eq!(keys(english), keys(chinese));
    }

    /// As the page's script hears answers: each by its status and what comes of its body.
    const ANSWERS: &str = r#"
        globalThis.sessionStorage = { getItem: () => 'token' };
        const { ask } = await import('data:text/javascript,' + encodeURIComponent(process.env.SCRIPT));
        for (const [status, body] of [[200, '{"troubles":[]}'], [200, '{"troub'], [200, ''], [500, 'no JSON']]) {
            globalThis.fetch = async () => new Response(body, { status });
            const said = await ask('/v1/overview').then(() => 'taken', (error) => error.constructor.name);
            console.log(said);
        }
    "#;

    #[test]
    fn an_answer_that_breaks_off_is_an_error_and_no_overview() {
        let script = std::str::from_utf8(include_bytes!("page/api.js")).unwrap();
        let mut node = std::process::Command::new("node");
        let Ok(output) = node.args(["--input-type=module", "-e", ANSWERS]).env("SCRIPT", script).output()
        else {
            println!("skipped: there is no `node`, which runs the page's script");
            return;
        };
        let (said, errors) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert_eq!(
            said.lines().collect::<Vec<_>>(),
            ["taken", "SyntaxError", "SyntaxError", "Refused"],
            "{errors}"
        );
    }
}
