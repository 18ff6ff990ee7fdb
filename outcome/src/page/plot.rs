//! Pictures as SVG. Colours are the page's, so that light and dark need no other picture.

use std::fmt::Write as _;

use super::thin::Point;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 712.0;
const TOP: f64 = 12.0;
/// Below the picture stand the times.
const FOOT: f64 = 32.0;

/// A line, and what it is called in the legend.
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    pub(super) points: &'a [Point],
    /// Place in the page's colours.
    pub(super) colour: usize,
    /// It keeps its value until the next point.
    pub(super) is_step: bool,
}

/// A picture over time.
pub(super) struct Picture<'a> {
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    /// Seconds since the epoch at its left.
    pub(super) begin: f64,
    pub(super) length: f64,
    pub(super) height: f64,
    pub(super) series: Vec<Series<'a>>,
    /// Filled down from zero.
    pub(super) area: bool,
    pub(super) bought: &'a [Point],
    pub(super) sold: &'a [Point],
}

struct Scale {
    low: f64,
    high: f64,
    length: f64,
    bottom: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.length * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - TOP)
    }
}

impl Picture<'_> {
    /// The figure; nothing where there is nothing to see.
    pub(super) fn figure(&self) -> String {
        let values = || {
            let lines = self.series.iter().flat_map(|series| series.points);
            lines.chain(self.bought).chain(self.sold).map(|point| point.1)
        };
        let (mut low, mut high) = values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return String::new();
        }
        if self.area {
            high = high.max(0.0);
        }
        let room = ((high - low) * 0.04).max(high.abs().max(1e-9) * 1e-6);
        (low, high) = (low - room, high + room);
        let scale = Scale { low, high, length: self.length, bottom: self.height - FOOT };
        let mut svg = self.open(&scale);
        grid(&mut svg, &scale, self.begin);
        for series in &self.series {
            let line = path(&scale, series);
            if self.area {
                let zero = scale.y(0.0);
                let last = series.points.last().map_or(LEFT, |point| scale.x(point.0));
                let _ = write!(svg, "<path class=area d=\"{line}L{last:.1},{zero:.1}L{LEFT},{zero:.1}Z\"/>");
            }
            let _ = write!(svg, "<path class=line style=\"stroke:var(--c{})\" d=\"{line}\"/>", series.colour);
        }
        marks(&mut svg, &scale, self.bought, "buy");
        marks(&mut svg, &scale, self.sold, "sell");
        let _ = write!(svg, "<line class=cursor y1={TOP} y2={:.1} /></svg>", scale.bottom);
        format!(
            "<figure><h2>{}</h2>\n{}<div class=plot>{svg}</div><output aria-live=polite></output>\n<figcaption>{}</figcaption></figure>\n",
            escape(self.title),
            self.legend(),
            escape(self.about)
        )
    }

    /// The element, with the values that its script reads out: of the first line at each of its points, of the others then.
    fn open(&self, scale: &Scale) -> String {
        let times: Vec<f64> = self.series.first().map_or_else(Vec::new, |first| {
            first.points.iter().map(|point| (point.0 * 1e3).round() / 1e3).collect()
        });
        let shown = |series: &Series<'_>| -> serde_json::Value {
            let mut at = 0;
            let values = times.iter().map(|time| {
                while at + 1 < series.points.len() && series.points[at + 1].0 <= *time + 5e-4 {
                    at += 1;
                }
                series.points.get(at).map(|point| (point.1 * 1e4).round() / 1e4)
            });
            serde_json::json!([series.name, values.collect::<Vec<_>>()])
        };
        let series: Vec<serde_json::Value> = self.series.iter().map(shown).collect();
        let attribute = |value: serde_json::Value| escape(&value.to_string());
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" tabindex=0 role=img aria-label=\"{}\" data-t=\"{:.3}\" data-box=\"[{LEFT},{RIGHT},0,{}]\" data-x=\"{}\" data-s=\"{}\">",
            self.height,
            escape(&format!("{}. {} Arrow keys read values.", self.title, self.about)),
            self.begin,
            scale.length,
            attribute(times.into()),
            attribute(series.into()),
        )
    }

    fn legend(&self) -> String {
        if self.series.len() < 2 && self.bought.is_empty() && self.sold.is_empty() {
            return String::new();
        }
        let mut items: String = self
            .series
            .iter()
            .map(|one| {
                format!("<li><i style=\"background:var(--c{})\"></i>{}</li>", one.colour, escape(one.name))
            })
            .collect();
        if !self.bought.is_empty() || !self.sold.is_empty() {
            items.push_str("<li><span class=up>▲</span> bought</li><li><span class=down>▼</span> sold</li>");
        }
        format!("<ul class=legend>{items}</ul>\n")
    }
}

fn path(scale: &Scale, series: &Series<'_>) -> String {
    let (mut path, mut before) = (String::new(), None);
    for point in series.points {
        let (x, y) = (scale.x(point.0), scale.y(point.1));
        match before {
            None => {
                let _ = write!(path, "M{x:.1},{y:.1}");
            }
            Some(_) if series.is_step => {
                let _ = write!(path, "H{x:.1}V{y:.1}");
            }
            Some(_) => {
                let _ = write!(path, "L{x:.1},{y:.1}");
            }
        }
        before = Some(y);
    }
    path
}

fn marks(svg: &mut String, scale: &Scale, points: &[Point], side: &str) {
    let mut path = String::new();
    for point in points {
        let (x, y) = (scale.x(point.0), scale.y(point.1));
        let _ = match side {
            "buy" => write!(path, "M{x:.1},{:.1}l3,6h-6z", y - 1.0),
            _ => write!(path, "M{x:.1},{:.1}l3,-6h-6z", y + 1.0),
        };
    }
    let _ = write!(svg, "<path class={side} d=\"{path}\"/>");
}

fn grid(svg: &mut String, scale: &Scale, begin: f64) {
    let step = nice((scale.high - scale.low) / 4.0);
    let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let mut value = (scale.low / step).ceil() * step;
    while value <= scale.high {
        let y = scale.y(value);
        let _ = write!(
            svg,
            "<line class=grid x1={LEFT} x2={RIGHT} y1={y:.1} y2={y:.1} /><text x={} y={:.1} text-anchor=end>{value:.digits$}</text>",
            LEFT - 6.0,
            y + 4.0
        );
        value += step;
    }
    let places = if scale.length < 20.0 { 3 } else { 0 };
    for quarter in 0..4 {
        let seconds = scale.length * (f64::from(quarter) + 0.5) / 4.0;
        let day = (begin + seconds).rem_euclid(86_400.0);
        let (hour, minute, second) = (day / 3_600.0, day % 3_600.0 / 60.0, day % 60.0);
        let _ = write!(
            svg,
            "<text x={:.1} y={:.1} text-anchor=middle>{:02}:{:02}:{}</text>",
            scale.x(seconds),
            scale.bottom + 22.0,
            hour as u32,
            minute as u32,
            if places == 0 { format!("{:02}", second as u32) } else { format!("{second:06.3}") }
        );
    }
}

/// 1, 2 or 5 times a power of ten, at least this.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(power)
}

/// A distribution over bins of a quarter of an octave from 0.1 µs on.
pub(super) fn distribution(bins: &[u64]) -> String {
    let (Some(first), Some(last)) =
        (bins.iter().position(|count| *count > 0), bins.iter().rposition(|count| *count > 0))
    else {
        return String::new();
    };
    let (height, most) = (200.0, bins.iter().copied().max().unwrap_or(1).max(1) as f64);
    let (bottom, count) = (height - FOOT, (last - first + 1) as f64);
    let width = (RIGHT - LEFT) / count;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\"Distribution of tick-to-order times\">"
    );
    for (index, number) in bins[first..=last].iter().enumerate() {
        let (x, tall) = (LEFT + index as f64 * width, *number as f64 / most * (bottom - TOP));
        let from = 0.1 * 2_f64.powf((first + index) as f64 / 4.0);
        let _ = write!(
            svg,
            "<rect class=bar x={x:.1} y={:.1} width={:.1} height={tall:.1}><title>{} to {} µs: {number}</title></rect>",
            bottom - tall,
            (width - 1.0).max(0.5),
            short(from),
            short(from * 2_f64.powf(0.25)),
        );
    }
    let labels = 5.min(last - first + 1);
    for label in 0..labels {
        let index = label as f64 * count / labels as f64;
        let from = 0.1 * 2_f64.powf((first as f64 + index) / 4.0);
        let x = LEFT + index * width;
        let _ = write!(svg, "<text x={x:.1} y={:.1}>{} µs</text>", bottom + 22.0, short(from));
    }
    let _ = write!(svg, "<text x={} y={} text-anchor=end>{most}</text></svg>", LEFT - 6.0, TOP + 8.0);
    format!("<div class=plot>{svg}</div>\n")
}

fn short(us: f64) -> String {
    if us >= 100.0 { format!("{us:.0}") } else { format!("{us:.1}") }
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
