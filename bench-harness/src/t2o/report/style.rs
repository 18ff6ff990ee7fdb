//! The page's style sheet: its text, and the colours of both modes.
//!
//! Groups have the colours of Okabe and Ito, which people with any colour vision tell apart, with the yellow darkened on
//! white; the matrix has one hue from light to dark, and from dark to light in dark mode.

const SHEET: &str = include_str!("style.css");

/// Groups, light and dark mode.
const GROUPS: [(&str, &str); 8] = [
    ("#0072b2", "#5db4ee"),
    ("#c76e00", "#f0a63a"),
    ("#007f5f", "#35c79c"),
    ("#b0508a", "#e59bc6"),
    ("#4a4f57", "#c3c9d1"),
    ("#c23b00", "#ff7f50"),
    ("#2a8fc4", "#9ad7ff"),
    ("#857100", "#e3d34a"),
];

/// Shades of the matrix: fill and text, light and dark mode.
const SHADES: [[&str; 4]; 9] = [
    ["#eef6fb", "#1d2430", "#14202b", "#e8edf3"],
    ["#d9eaf5", "#1d2430", "#173041", "#e8edf3"],
    ["#bfdbed", "#1d2430", "#1a4159", "#e8edf3"],
    ["#a1cae2", "#1d2430", "#1d5271", "#eef3f8"],
    ["#80b6d6", "#1d2430", "#22658b", "#f4f8fb"],
    ["#35789f", "#ffffff", "#6aa9cb", "#0d151c"],
    ["#28638a", "#ffffff", "#8bc0dc", "#0d151c"],
    ["#1b4f75", "#ffffff", "#aed6ea", "#0d151c"],
    ["#113a5b", "#ffffff", "#d3ebf7", "#0d151c"],
];

/// The whole sheet.
pub(super) fn sheet() -> String {
    let colours = |is_dark: bool| {
        let mut text = String::new();
        for (place, (light, dark)) in GROUPS.iter().enumerate() {
            text.push_str(&format!("--g{place}:{};", if is_dark { dark } else { light }));
        }
        for (place, [fill, ink, dark_fill, dark_ink]) in SHADES.iter().enumerate() {
            let (fill, ink) = if is_dark { (dark_fill, dark_ink) } else { (fill, ink) };
            text.push_str(&format!("--s{place}:{fill};--t{place}:{ink};"));
        }
        text
    };
    let mut text = format!(
        ":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n",
        colours(false),
        colours(true)
    );
    for place in 0..GROUPS.len() {
        text.push_str(&format!(".g{place} {{ --c: var(--g{place}); }}\n"));
    }
    for place in 0..SHADES.len() {
        text.push_str(&format!(
            "td.s{place} {{ background-color: var(--s{place}); color: var(--t{place}); }}\n"
        ));
    }
    text + SHEET
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as the guidelines for accessible pages define it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn texts_and_lines_stand_out_in_both_modes() {
        for [fill, ink, dark_fill, dark_ink] in SHADES {
            assert!(contrast(fill, ink) >= 4.5, "{ink} on {fill}");
            assert!(contrast(dark_fill, dark_ink) >= 4.5, "{dark_ink} on {dark_fill}");
        }
        for (light, dark) in GROUPS {
            assert!(contrast(light, "#ffffff") >= 3.0, "{light}");
            assert!(contrast(dark, "#11161d") >= 3.0, "{dark}");
        }
    }

    #[test]
    fn shades_go_one_way_so_that_they_read_without_colour_too() {
        let light: Vec<f64> = SHADES.iter().map(|shade| luminance(shade[0])).collect();
        let dark: Vec<f64> = SHADES.iter().map(|shade| luminance(shade[2])).collect();
        assert!(
            light.windows(2).all(|pair| pair[0] > pair[1]) && dark.windows(2).all(|pair| pair[0] < pair[1])
        );
    }
}
