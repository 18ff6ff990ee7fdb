//! As many points as a picture can show: of each stretch of time the lowest and the highest.

/// Stretches of a picture.
pub(super) const BUCKETS: usize = 360;

/// A value at a time in seconds from the picture's begin.
pub(super) type Point = (f64, f64);

/// Takes points in the order of time, and keeps a few of each bucket.
#[derive(Clone, Debug)]
pub(super) struct Thin {
    begin: f64,
    width: f64,
    bucket: usize,
    open: Option<[Point; 4]>,
    points: Vec<Point>,
}

impl Thin {
    pub(super) fn new(begin: f64, end: f64) -> Thin {
        let width = ((end - begin) / BUCKETS as f64).max(1e-9);
        Thin { begin, width, bucket: 0, open: None, points: Vec::new() }
    }

    pub(super) fn add(&mut self, point: Point) {
        let bucket = ((point.0 - self.begin) / self.width).max(0.0) as usize;
        if bucket != self.bucket {
            self.close();
            self.bucket = bucket;
        }
        match &mut self.open {
            None => self.open = Some([point; 4]),
            Some([_, low, high, last]) => {
                if point.1 < low.1 {
                    *low = point;
                }
                if point.1 > high.1 {
                    *high = point;
                }
                *last = point;
            }
        }
    }

    fn close(&mut self) {
        if let Some(mut points) = self.open.take() {
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            for point in points {
                if self.points.last() != Some(&point) {
                    self.points.push(point);
                }
            }
        }
    }

    pub(super) fn points(mut self) -> Vec<Point> {
        self.close();
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_peaks_and_stays_short() {
        let mut thin = Thin::new(0.0, 1_000.0);
        for index in 0..1_000_000_u32 {
            let value = if index == 333_333 { 9.0 } else { f64::from(index % 7) };
            thin.add((f64::from(index) / 1_000.0, value));
        }
        let points = thin.points();
        assert!(points.len() <= 4 * (BUCKETS + 1), "{}", points.len());
        assert!(points.iter().any(|point| point.1 == 9.0), "the peak is kept");
        assert!(points.is_sorted_by(|one, other| one.0 <= other.0));
        assert_eq!((points[0].0, points.last().unwrap().0), (0.0, 999.999));
    }
}
