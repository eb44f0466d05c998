//! The live memory of one step in each mode, as a chart.

use std::path::Path;

use plotters::prelude::*;

use crate::timeline::Timeline;

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is called.
    pub name: String,
    /// What it shows.
    pub timeline: Timeline,
}

const WIDTH: u32 = 960;
const HEIGHT: u32 = 480;
/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
const TEXT: (&str, i32) = ("sans-serif", 15);

/// Draws the curves as SVG: milliseconds to the right, megabytes up.
///
/// # Errors
/// A message of the drawing library.
pub fn draw(title: &str, curves: &[Curve]) -> Result<String, String> {
    let mut svg = String::new();
    paint(title, curves, &mut svg).map_err(|e| format!("cannot draw the chart: {e}"))?;
    Ok(svg)
}

/// Draws the curves into a file, whose folder is made where there is none.
///
/// # Errors
/// A message that names the file.
pub fn write(path: &Path, title: &str, curves: &[Curve]) -> Result<(), String> {
    let svg = draw(title, curves)?;
    path.parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, svg))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn paint(title: &str, curves: &[Curve], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let milliseconds =
        curves.iter().flat_map(|c| c.timeline.samples.last()).map(|(s, _)| s * 1e3).fold(1.0_f64, f64::max);
    let megabytes = curves.iter().map(|c| c.timeline.peak() as f64 / 1e6).fold(1.0_f64, f64::max);

    let area = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..milliseconds * 1.02, 0.0..megabytes * 1.08)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("milliseconds since the step's start")
        .y_desc("live MB above the step's start")
        .label_style(TEXT)
        .axis_desc_style(TEXT)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let style = ShapeStyle::from(*colour).stroke_width(2);
        let points = stairs(&curve.timeline).map(|(seconds, bytes)| (seconds * 1e3, bytes as f64 / 1e6));
        let name = format!("{} (peak {:.1} MB)", curve.name, curve.timeline.peak() as f64 / 1e6);
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(TEXT)
        .draw()?;
    drop(chart);
    area.present()?;
    Ok(())
}

/// The samples without the inner ones of stretches on which nothing changes.
fn stairs(timeline: &Timeline) -> impl Iterator<Item = (f64, usize)> + '_ {
    let samples = &timeline.samples;
    samples.iter().enumerate().filter_map(move |(i, sample)| {
        let same = |j: Option<usize>| j.and_then(|j| samples.get(j)).is_some_and(|s| s.1 == sample.1);
        (!(same(i.checked_sub(1)) && same(i.checked_add(1)))).then_some(*sample)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, samples: &[(f64, usize)]) -> Curve {
        Curve { name: name.to_owned(), timeline: Timeline { samples: samples.to_vec() } }
    }

    #[test]
    fn every_curve_is_drawn_with_its_name_and_peak() {
        let curves = [
            curve("plain", &[(0.0, 0), (0.1, 200_000_000), (0.2, 1_000_000)]),
            curve("checkpoint", &[(0.0, 0), (0.1, 90_000_000), (0.3, 1_000_000)]),
        ];
        let svg = draw("Live memory", &curves).unwrap();
        assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for text in ["Live memory", "plain (peak 200.0 MB)", "checkpoint (peak 90.0 MB)", "milliseconds", "live MB"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        for colour in ["#D55E00", "#0072B2"] {
            assert!(svg.contains(&format!("stroke=\"{colour}\"")), "{colour} is missing");
        }
    }

    #[test]
    fn nothing_measured_is_an_empty_chart() {
        assert!(draw("t", &[]).unwrap().contains("</svg>"));
        assert!(draw("t", &[curve("a", &[])]).unwrap().contains("a (peak 0.0 MB)"));
    }

    #[test]
    fn level_stretches_keep_their_ends() {
        let timeline = Timeline { samples: vec![(0.0, 1), (0.1, 1), (0.2, 1), (0.3, 1), (0.4, 2), (0.5, 2)] };
        assert_eq!(stairs(&timeline).collect::<Vec<_>>(), [(0.0, 1), (0.3, 1), (0.4, 2), (0.5, 2)]);
    }

    #[test]
    fn a_folder_is_made_and_a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/chart.svg");
        write(&path, "t", &[]).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("</svg>"));
        let error = write(folder.path(), "t", &[]).unwrap_err();
        assert!(error.starts_with("cannot write "), "{error}");
    }
}
