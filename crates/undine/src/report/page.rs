//! The page of a report: one file that needs nothing from elsewhere, in light and dark mode.

use super::stats::History;
use super::summary::{Summary, differences, time};
use std::fmt::Write;
use undine_render::plot::{Mark, OTHER, Plot, SIZE, STYLE, escaped, layout, svg_within_page};

/// So many Tasks are listed.
const TASKS: usize = 10;
/// Values of so many frames are shown under the pointer; of more, none.
const MOST_HOVERED: usize = 5000;

/// The page of one run, or of two beside each other.
pub fn page(runs: &[History], figures: &[Plot]) -> String {
    let summaries: Vec<Summary> = runs.iter().map(Summary::of).collect();
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let title = escaped(&labels.join(" and "));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Undine</title>\n\
         <style>{}{}</style>\n</head>\n<body>\n<main>\n",
        include_str!("page.css"),
        *STYLE
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<header><h1>{title}</h1>");
    for run in runs {
        header(&mut text, run, runs.len() > 1);
    }
    text += "</header>\n";
    match &summaries[..] {
        [one] => tiles(&mut text, one),
        [a, b] => {
            let [first, second] = [labels[0], labels[1]].map(escaped);
            let _ = writeln!(
                text,
                "<section class=\"card\"><table class=\"differences\"><thead><tr><th></th><th>{first}</th><th>{second}</th>\
                 <th>second to first</th></tr></thead><tbody>\n{}</tbody></table></section>",
                differences(a, b)
            );
        }
        _ => {}
    }
    text += "<section class=\"plots\">\n";
    for plot in figures {
        figure(&mut text, plot);
    }
    if figures.is_empty() {
        text += "<p class=\"none\">There is nothing to draw yet: no frame is told of.</p>\n";
    }
    text += "</section>\n";
    for run in runs {
        pictures(&mut text, run, runs.len() > 1);
        tasks(&mut text, run, runs.len() > 1);
    }
    let _ =
        write!(text, "</main>\n<script>{}</script>\n</body>\n</html>\n", include_str!("page.js"));
    text
}

fn header(text: &mut String, run: &History, named: bool) {
    let about = &run.about;
    let mut facts: Vec<String> = Vec::new();
    if named {
        facts.push(format!("<b>{}</b>", escaped(&run.label)));
    }
    let told = run.frames.keys().next().zip(run.frames.keys().next_back());
    match (told, about.frames) {
        (Some((first, last)), Some((_, end))) if *last < end => {
            facts.push(format!("frames {first} to {last} of {end}"));
        }
        (Some((first, last)), _) => facts.push(format!("frames {first} to {last}")),
        _ => {}
    }
    facts.extend(about.machine.as_deref().map(escaped));
    let several = about.processes.filter(|&processes| processes > 1);
    facts.extend(several.map(|processes| format!("{processes} processes")));
    facts.extend(about.threads.map(|threads| format!("{threads} threads")));
    facts.extend(about.undine.as_ref().map(|version| format!("Undine {}", escaped(version))));
    facts.extend(about.began.as_deref().map(escaped));
    let _ = writeln!(text, "<p class=\"facts\">{}</p>", facts.join(" · "));
    if let Some(ended) = about.ended.as_deref().filter(|ended| *ended != "complete") {
        let _ = writeln!(text, "<p class=\"ended\">{}</p>", escaped(ended));
    }
    if run.unreadable > 0 {
        let _ = writeln!(
            text,
            "<p class=\"ended\">{} lines of stats.jsonl could not be read</p>",
            run.unreadable
        );
    }
}

fn tiles(text: &mut String, summary: &Summary) {
    text.push_str("<dl class=\"tiles\">\n");
    for (name, value) in summary.lines() {
        let wrong = if name == "not converged" { " class=\"wrong\"" } else { "" };
        // The first part is the figure, the rest explains it.
        let (figure, rest) = match value.split_once(", ") {
            Some((figure, rest)) => (figure, rest),
            None => (value.as_str(), ""),
        };
        let [figure, rest] = [figure, rest].map(escaped);
        let _ = writeln!(
            text,
            "<div{wrong}><dt>{name}</dt><dd>{figure}<small>{rest}</small></dd></div>"
        );
    }
    text.push_str("</dl>\n");
}

fn figure(text: &mut String, plot: &Plot) {
    let drawing = layout(plot, SIZE);
    let number =
        |value: f64| if value.is_finite() { format!("{value:.3}") } else { "0".to_owned() };
    let [left, top, right, bottom] = drawing.within.map(number);
    let [first, last] = drawing.x.map(number);
    let attributes =
        format!("data-within=\"{left} {top} {right} {bottom}\" data-x=\"{first} {last}\"");
    let _ = write!(
        text,
        "<figure class=\"card\" id=\"{}\">\n{}<div class=\"tip\" hidden></div>\
         <script type=\"application/json\">{}</script></figure>\n",
        escaped(&plot.name),
        svg_within_page(&drawing, &attributes),
        values(plot)
    );
}

/// What the pointer shows: the series with their values, in the unit of the axis, as JSON that cannot end a script.
fn values(plot: &Plot) -> String {
    let (unit, one) = plot.unit();
    let digits = |value: f64| {
        let value = value / one;
        if value.is_finite() {
            serde_json::json!(format!("{value:.3e}").parse::<f64>().ok())
        } else {
            serde_json::Value::Null
        }
    };
    let hovered = plot.series.iter().all(|series| series.points.len() <= MOST_HOVERED);
    let series: Vec<_> = plot
        .series
        .iter()
        .filter(|_| hovered)
        .map(|series| {
            let points = series.points.iter().filter(|[_, y]| y.is_finite());
            let points: Vec<_> = points.map(|[x, y]| serde_json::json!([x, digits(*y)])).collect();
            let colour = match series.colour {
                OTHER => "other".to_owned(),
                n => format!("s{}", n % 7),
            };
            let run = plot.key.as_ref().map(|key| key[usize::from(series.dashed)].as_str());
            let name = match (series.name.as_str(), run) {
                ("", Some(run)) => run.to_owned(),
                ("", None) => plot.title.clone(),
                (name, Some(run)) => format!("{name}, {run}"),
                (name, None) => name.to_owned(),
            };
            serde_json::json!({"name": name, "class": colour, "points": points})
        })
        .collect();
    let stacked = plot.series.iter().all(|series| matches!(series.mark, Mark::Area | Mark::Bars));
    let all = serde_json::json!({"unit": unit, "total": stacked, "series": series});
    all.to_string().replace('<', "\\u003c")
}

fn pictures(text: &mut String, run: &History, named: bool) {
    let Some(sheet) = &run.sheet else { return };
    let of = if named { format!(": {}", escaped(&run.label)) } else { String::new() };
    let _ = writeln!(
        text,
        "<section class=\"card\"><h2>Pictures{of}</h2>\
         <img alt=\"Contact sheet of the run\" src=\"data:image/png;base64,{}\"></section>",
        base64(sheet)
    );
}

/// The Tasks that took most of the time.
fn tasks(text: &mut String, run: &History, named: bool) {
    let mut tasks: Vec<_> = run.tasks.iter().filter(|(_, took)| **took > 0.0).collect();
    tasks.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    let whole: f64 = tasks.iter().map(|(_, took)| **took).sum();
    if tasks.is_empty() {
        return;
    }
    let of = if named { format!(": {}", escaped(&run.label)) } else { String::new() };
    let _ = write!(
        text,
        "<section class=\"card\"><h2>Tasks that took longest{of}</h2>\n<table class=\"tasks\"><thead>\
         <tr><th>Task</th><th>Stage</th><th>of</th><th>time</th><th>share</th></tr></thead><tbody>\n"
    );
    for ((stage, owner, task), took) in tasks.into_iter().take(TASKS) {
        let share = 100.0 * took / whole;
        let [task, stage, owner] = [task, stage, owner].map(|word| escaped(word));
        let _ = writeln!(
            text,
            "<tr><th>{task}</th><td>{stage}</td><td>{owner}</td><td>{}</td>\
             <td><span class=\"share\" style=\"width:{share:.1}%\"></span>{share:.1} %</td></tr>",
            time(*took)
        );
    }
    text.push_str("</tbody></table></section>\n");
}

/// Bytes as text (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * n) & 63) as usize];
            text.push(if n <= three.len() { char::from(sign) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
