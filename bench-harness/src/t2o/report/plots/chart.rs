//! A small chart as SVG text. Colours are classes of the page's style sheet, so they follow its light or dark mode; a
//! library that writes its colours into each element cannot do that.

use std::fmt::Write;

/// An axis: its ends, and whether equal steps are equal factors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
}

impl Axis {
    /// From 0 to 1 along the axis; figures beyond it lie on its end.
    fn share(self, figure: f64) -> f64 {
        let place = |figure: f64| if self.log { figure.max(f64::MIN_POSITIVE).ln() } else { figure };
        let length = place(self.high) - place(self.low);
        if length <= 0.0 { 0.0 } else { ((place(figure) - place(self.low)) / length).clamp(0.0, 1.0) }
    }
}

/// Where a text lies beside its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Middle,
    End,
}

/// A chart that is being drawn.
#[derive(Debug)]
pub(super) struct Chart {
    width: f64,
    height: f64,
    x: Axis,
    y: Axis,
    body: String,
}

const LEFT: f64 = 84.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

impl Chart {
    pub(super) fn new((width, height): (f64, f64), x: Axis, y: Axis) -> Chart {
        Chart { width, height, x, y, body: String::new() }
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + self.x.share(x) * (self.width - LEFT - RIGHT);
        let down = self.height - BOTTOM - self.y.share(y) * (self.height - TOP - BOTTOM);
        (across, down)
    }

    /// Ticks with their texts, and what the axis is.
    pub(super) fn x_axis(&mut self, ticks: &[(f64, String)], words: &str) {
        let bottom = self.height - BOTTOM;
        for (figure, text) in ticks {
            let (x, _) = self.at(*figure, self.y.low);
            self.draw(format_args!(
                "<line class=axis x1={x:.1} x2={x:.1} y1={bottom:.1} y2={:.1} />",
                bottom + 4.0
            ));
            self.text_at("tick", (x, bottom + 17.0), Anchor::Middle, text);
        }
        self.draw(format_args!(
            "<line class=axis x1={LEFT:.1} x2={:.1} y1={bottom:.1} y2={bottom:.1} />",
            self.width - RIGHT
        ));
        let middle = LEFT + (self.width - LEFT - RIGHT) / 2.0;
        self.text_at("desc", (middle, self.height - 8.0), Anchor::Middle, words);
    }

    /// The same, with a line across at each tick.
    pub(super) fn y_axis(&mut self, ticks: &[(f64, String)], words: &str) {
        for (figure, text) in ticks {
            let (_, y) = self.at(self.x.low, *figure);
            self.draw(format_args!(
                "<line class=mesh x1={LEFT:.1} x2={:.1} y1={y:.1} y2={y:.1} />",
                self.width - RIGHT
            ));
            self.text_at("tick", (LEFT - 6.0, y + 4.0), Anchor::End, text);
        }
        let middle = TOP + (self.height - TOP - BOTTOM) / 2.0;
        self.draw(format_args!(
            "<text class=desc text-anchor=middle transform=\"translate(13 {middle:.1}) rotate(-90)\">{}</text>",
            escape(words)
        ));
    }

    pub(super) fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        let places: Vec<String> = points
            .iter()
            .map(|(x, y)| {
                let (x, y) = self.at(*x, *y);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        if places.len() > 1 {
            self.draw(format_args!("<polyline class=\"{class}\" points=\"{}\" />", places.join(" ")));
        }
    }

    /// A bar from one height to another, moved by some units to the side.
    pub(super) fn span(
        &mut self,
        class: &str,
        (x, low, high): (f64, f64, f64),
        (aside, wide): (f64, f64),
        about: &str,
    ) {
        let (x, bottom) = self.at(x, low);
        let (_, top) = self.at(self.x.low, high);
        let tall = (bottom - top).max(1.0);
        self.draw(format_args!(
            "<rect class=\"{class}\" x={:.1} y={top:.1} width={wide:.1} height={tall:.1}>{}</rect>",
            x + aside - wide / 2.0,
            title(about)
        ));
    }

    /// A block between two places of the x-axis.
    pub(super) fn block(
        &mut self,
        class: &str,
        (left, right): (f64, f64),
        (low, high): (f64, f64),
        about: &str,
    ) {
        let (x1, bottom) = self.at(left, low);
        let (x2, top) = self.at(right, high);
        self.draw(format_args!(
            "<rect class=\"{class}\" x={x1:.1} y={top:.1} width={:.1} height={:.1}>{}</rect>",
            x2 - x1,
            bottom - top,
            title(about)
        ));
    }

    /// One of [`SHAPES`] at a point. A hollow one is that of a marked cell.
    pub(super) fn marker(&mut self, class: &str, shape: usize, (x, y): (f64, f64), about: &str) {
        let (x, y) = self.at(x, y);
        let path = SHAPES[shape % SHAPES.len()];
        self.draw(format_args!(
            "<path class=\"{class}\" transform=\"translate({x:.1} {y:.1})\" d=\"{path}\">{}</path>",
            title(about)
        ));
    }

    /// Text at a point, moved down by some units.
    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), down: f64, anchor: Anchor, words: &str) {
        let (x, y) = self.at(x, y);
        self.text_at(class, (x, y + down), anchor, words);
    }

    fn text_at(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.draw(format_args!(
            "<text class=\"{class}\" x={x:.1} y={y:.1} text-anchor={anchor}>{}</text>",
            escape(words)
        ));
    }

    fn draw(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }

    /// The whole, which readers of screens announce as `name`.
    pub(super) fn finish(self, name: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=img aria-label=\"{}\">\n{}</svg>\n",
            self.width,
            self.height,
            escape(name).replace('"', "&quot;"),
            self.body
        )
    }
}

/// Outlines around a point, so that lines are told apart without their colours.
pub(super) const SHAPES: [&str; 6] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.6 3.6H-4.6z",
    "M0 -5L5 0L0 5L-5 0z",
    "M0 4.8L4.6 -3.6H-4.6z",
    "M-4.4 -1.5h2.9v-2.9h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9z",
];

fn title(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!("<title>{}</title>", escape(about)) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_where_their_figures_are() {
        let axis = |low, high, log| Axis { low, high, log };
        assert_eq!(
            [1.0, 10.0, 100.0, 1_000.0].map(|x| axis(1.0, 100.0, true).share(x)),
            [0.0, 0.5, 1.0, 1.0]
        );
        assert_eq!([-1.0, 0.0, 5.0].map(|x| axis(0.0, 10.0, false).share(x)), [0.0, 0.0, 0.5]);
        assert_eq!(axis(3.0, 3.0, true).share(3.0), 0.0);
        let mut chart = Chart::new((200.0, 100.0), axis(0.0, 1.0, false), axis(0.0, 1.0, false));
        chart.marker("g0", 0, (0.0, 1.0), "a < b");
        let svg = chart.finish("a \"chart\"");
        assert!(svg.contains("translate(84.0 12.0)") && svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;chart&quot;\""));
    }
}
