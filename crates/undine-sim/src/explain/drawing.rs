//! The schedule as a drawing, after Figure 8 of Loki: the timeline as nested frames at the left, a row for each Stage, and
//! the Tasks in it as boxes in the colours of their Groups. Pointing at a box shows the channels that it uses.

use super::canvas::{Canvas, Ink, Paint, cut, width};
use super::outline::{Line, SOLVE, animated, coupled, how_often, lines};
use super::schedule::{COST, uses};
use super::tree::own_name;
use crate::schedule::Entry;
use crate::simulation::Simulation;
use crate::stage::{Pace, Stage};
use crate::task::Reach;
use undine_schema::Kind;

/// How far everything stays from the edge [px].
const EDGE: i64 = 32;
/// How far a frame of the timeline lies within the one around it [px].
const NESTING: i64 = 18;
/// Where the names of Stages begin [px].
const STAGES: i64 = EDGE + 3 * NESTING + 22;
/// Where Tasks begin [px].
const TASKS: i64 = STAGES + 196;
/// Where Tasks end at most [px]: more of them go below.
const TASKS_END: i64 = TASKS + 720;
/// How wide the legend is [px].
const LEGEND_WIDTH: i64 = 270;
/// The height of a box [px].
const BOX: i64 = 40;
/// What is left between boxes [px].
const GAP: i64 = 14;
/// No box is wider [px].
const WIDEST: i64 = 300;

const DARK: &str = "#1f2a37";
const DIM: &str = "#8a94a3";
const HAIRLINE: &str = "#c5cfdb";

/// The outermost Group's colour, then those of the others in turn.
const ROOT: &str = "#5b6878";
const COLOURS: [&str; 10] = [
    "#2f7fc1", "#e07b2e", "#3f9c67", "#8a63c4", "#c94f6d", "#1f9aa0", "#b08a1e", "#9a6a48",
    "#5a6fd8", "#6f9a2f",
];

/// The drawing, as an SVG file of its own.
pub fn svg(simulation: &Simulation) -> String {
    let rows = lay_out(simulation);
    let timeline_end = rows.last().map_or(EDGE, |row| row.bottom) + EDGE / 2;
    let boxes = rows.iter().flat_map(Row::boxes);
    let tasks_end = boxes.map(|one| one.place[0] + one.place[2]).fold(TASKS + 380, i64::max);
    let legend_at = tasks_end + 64;
    let mut canvas = Canvas::default();
    heads(&mut canvas, legend_at);
    frames(&mut canvas, simulation, &rows, tasks_end + 34);
    for row in &rows {
        if let Content::Stage { stage, boxes } = &row.content {
            stage_row(&mut canvas, *stage, row, boxes);
        }
    }
    let legend_end = legend(&mut canvas, simulation, legend_at);
    let height = timeline_end.max(legend_end) + 34;
    marks(&mut canvas, height - EDGE);
    canvas.finish([legend_at + LEGEND_WIDTH + EDGE, height], "Schedule of Tasks on Stages")
}

/// A row of the drawing.
struct Row {
    top: i64,
    bottom: i64,
    content: Content,
}

enum Content {
    Open(Pace),
    Close,
    Stage { stage: Stage, boxes: Vec<TaskBox> },
}

impl Row {
    /// The Tasks in it.
    fn boxes(&self) -> &[TaskBox] {
        match &self.content {
            Content::Stage { boxes, .. } => boxes,
            _ => &[],
        }
    }
}

/// A Task, placed.
struct TaskBox {
    place: [i64; 4],
    name: String,
    owner: String,
    about: String,
    paint: Paint,
    colour: &'static str,
}

/// Puts rows below each other, and the boxes of each Stage side by side, in as many lines as they need.
fn lay_out(simulation: &Simulation) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut y = EDGE + 34;
    let mut push = |height: i64, content: &mut dyn FnMut(i64) -> Content| {
        rows.push(Row { top: y, bottom: y + height, content: content(y) });
        y += height;
    };
    for line in lines(simulation) {
        match line {
            Line::Open(pace) => push(34, &mut |_| Content::Open(pace)),
            Line::Close => push(14, &mut |_| Content::Close),
            Line::Empty(stages) => {
                for stage in stages {
                    push(22, &mut |_| Content::Stage { stage, boxes: Vec::new() });
                }
            }
            Line::Stage(stage) => {
                let mut boxes = boxes(simulation, stage);
                let height = flow(&mut boxes);
                push(height, &mut |top| {
                    boxes.iter_mut().for_each(|one| one.place[1] += top);
                    Content::Stage { stage, boxes: std::mem::take(&mut boxes) }
                });
            }
        }
    }
    rows
}

/// Places boxes from left to right and top to bottom; returns the height of them all.
fn flow(boxes: &mut [TaskBox]) -> i64 {
    let (mut x, mut y) = (TASKS, 8);
    for TaskBox { place, .. } in boxes.iter_mut() {
        if x > TASKS && x + place[2] > TASKS_END {
            (x, y) = (TASKS, y + BOX + 8);
        }
        (place[0], place[1]) = (x, y);
        x += place[2] + GAP;
    }
    if boxes.is_empty() { 30 } else { y + BOX + 8 }
}

/// What happens at a Stage, in running order.
fn boxes(simulation: &Simulation, stage: Stage) -> Vec<TaskBox> {
    let own = Paint { fill: "#ffffff", cover: 100, stroke: DARK, dashed: true };
    let kernels = simulation.kernels().filter(|(at, _)| *at == stage);
    let mut boxes: Vec<TaskBox> = kernels
        .map(|(_, name)| TaskBox::new(name, "a kernel of the user's own", String::new(), own, DARK))
        .collect();
    let animated = animated(simulation);
    if stage == Stage::BeginSubstep && !animated.is_empty() {
        let paint = Paint { stroke: ROOT, ..own };
        let about = animated.join("\n");
        boxes.push(TaskBox::new("take animated values", &animated.join(", "), about, paint, ROOT));
    }
    let tasks = simulation.schedule().at(stage).iter();
    boxes.extend(tasks.map(|entry| {
        let behavior = &simulation.tree().behaviors[entry.behavior];
        let colour = colour(behavior.group);
        let is_object = behavior.scope.declaration.kind == Kind::Object;
        let paint = match is_object {
            true => Paint { fill: colour, cover: 16, stroke: colour, dashed: false },
            false => Paint { fill: "#ffffff", cover: 100, stroke: colour, dashed: false },
        };
        let about = about(entry, simulation);
        TaskBox::new(entry.declared.name, &entry.owner, about, paint, colour)
    }));
    let solved = coupled(simulation);
    if stage == Stage::SolveSolids && !solved.is_empty() {
        let paint = Paint { fill: ROOT, cover: 16, stroke: ROOT, dashed: false };
        boxes.push(TaskBox::new(SOLVE, &solved.join(", "), solved.join("\n"), paint, ROOT));
    }
    boxes
}

impl TaskBox {
    fn new(name: &str, owner: &str, about: String, paint: Paint, colour: &'static str) -> Self {
        let (name, owner) = (cut(name, 13, WIDEST - 24), cut(owner, 11, WIDEST - 24));
        let wide = width(&name, 13).max(width(&owner, 11)) + 24;
        Self { place: [0, 0, wide, BOX], name, owner, about, paint, colour }
    }
}

/// What one reads when pointing at a Task.
fn about(entry: &Entry, simulation: &Simulation) -> String {
    let mut about = format!("{}: {}", entry.owner, entry.declared.name).replace('\n', " ");
    for (verb, stores) in uses(entry, &simulation.world) {
        let stores: Vec<String> = stores.iter().map(|channels| channels.join(", ")).collect();
        about.push_str(&format!("\n{verb} {}", stores.join("; ")));
    }
    if entry.declared.reach == Reach::Everywhere {
        about.push_str(&format!("\nlooks {COST}"));
    }
    about
}

fn colour(group: usize) -> &'static str {
    group.checked_sub(1).map_or(ROOT, |n| COLOURS[n % COLOURS.len()])
}

/// The heads of the columns.
fn heads(canvas: &mut Canvas, legend_at: i64) {
    let ink = Ink { size: 12, colour: DIM, style: "letter-spacing:0.08em" };
    for (x, head) in [(EDGE, "STAGES"), (TASKS, "TASKS"), (legend_at, "GROUPS AND BEHAVIORS")] {
        canvas.text([x, EDGE + 8], ink, head);
    }
}

/// The timeline: a frame around all that comes at a pace, with how often it comes.
fn frames(canvas: &mut Canvas, simulation: &Simulation, rows: &[Row], end: i64) {
    let mut open: Vec<(Pace, i64)> = Vec::new();
    let mut closed: Vec<(Pace, i64, i64, i64)> = Vec::new();
    for row in rows {
        match row.content {
            Content::Open(pace) => open.push((pace, row.top)),
            Content::Close => {
                let depth = open.len() as i64 - 1;
                closed.extend(open.pop().map(|(pace, top)| (pace, top, row.bottom, depth)));
            }
            Content::Stage { .. } => {}
        }
    }
    // The outer ones first, so that the inner ones lie on them.
    for (pace, top, bottom, depth) in closed.into_iter().rev() {
        let (x, right) = (EDGE + depth * NESTING, end - depth * 10);
        let (top, bottom) = (top + 6, bottom - 4);
        let line = ["#c3ccd8", "#9db0c8", "#6f8fb5"][depth.clamp(0, 2) as usize];
        let fill = Paint { fill: "#5a7fb0", cover: 5, stroke: line, dashed: false };
        canvas.rectangle([x, top, right - x, bottom - top], 10, fill, "");
        // An arrow that goes round: this is done again and again.
        let (cx, cy) = (x + 16, top + 15);
        let arc = format!("M{} {}A5 5 0 1 1 {cx} {}", cx + 4, cy - 3, cy - 5);
        canvas.path(&arc, line, 1.6);
        let head = format!("M{cx} {}L{} {}L{cx} {}", cy - 8, cx + 3, cy - 5, cy - 2);
        canvas.path(&head, line, 1.6);
        let (often, count) = how_often(pace, simulation.timeline());
        let ink = Ink { size: 12, colour: "#3d5675", style: "font-weight:600" };
        canvas.text([x + 30, top + 19], ink, often);
        let ink = Ink { size: 11, colour: DIM, style: "" };
        canvas.text([x + 30 + width(often, 12) + 16, top + 19], ink, &count);
    }
}

/// A Stage with its Tasks.
fn stage_row(canvas: &mut Canvas, stage: Stage, row: &Row, boxes: &[TaskBox]) {
    let user = stage.is_user_facing();
    let middle = if boxes.is_empty() { (row.top + row.bottom) / 2 } else { row.top + 8 + BOX / 2 };
    let colour = if user || !boxes.is_empty() { DARK } else { DIM };
    let style = if user { "font-weight:600" } else { "" };
    let size = if colour == DIM { 11 } else { 13 };
    canvas.diamond([STAGES - 12, middle], 4, if user { "#c0392b" } else { colour }, user);
    canvas.text([STAGES, middle + 4], Ink { size, colour, style }, &stage.to_string());
    if boxes.is_empty() {
        let style = "font-style:italic";
        let words = if user { stage.words() } else { "" };
        canvas.text([TASKS, middle + 4], Ink { size: 11, colour: DIM, style }, words);
        return;
    }
    canvas.path(
        &format!("M{} {middle}H{}", STAGES + width(&stage.to_string(), 14) + 8, TASKS - 8),
        HAIRLINE,
        1.0,
    );
    for (n, one) in boxes.iter().enumerate() {
        let [x, y, wide, high] = one.place;
        // On white, so that what is around a box does not change its colour.
        let white = Paint { fill: "#ffffff", cover: 100, stroke: "none", dashed: false };
        canvas.rectangle(one.place, 7, white, "");
        canvas.rectangle(one.place, 7, one.paint, &one.about);
        canvas.text([x + 12, y + 17], Ink { size: 13, colour: DARK, style: "" }, &one.name);
        canvas.text([x + 12, y + 32], Ink { size: 11, colour: one.colour, style: "" }, &one.owner);
        if boxes.get(n + 1).is_some_and(|next| next.place[1] == y) {
            let (tip, middle) = (x + wide + GAP / 2 + 2, y + high / 2);
            let back = tip - 3;
            let chevron = format!("M{back} {}L{tip} {middle}L{back} {}", middle - 4, middle + 4);
            canvas.path(&chevron, DIM, 1.4);
        }
    }
}

/// Groups with their colours and Behaviors; those that take no part are crossed out. Returns where it ends.
fn legend(canvas: &mut Canvas, simulation: &Simulation, x: i64) -> i64 {
    let tree = simulation.tree();
    let mut y = EDGE + 44;
    // In the order of evaluation: Groups inside before those around them.
    for group in groups_in_order(simulation) {
        let entry = &tree.groups[group];
        let holds: Vec<_> = tree.behaviors.iter().filter(|one| one.group == group).collect();
        if holds.is_empty() {
            continue;
        }
        let (name, colour) = match entry.path.as_str() {
            "" => ("the whole setup", colour(group)),
            path => (path, colour(group)),
        };
        let swatch = Paint { fill: colour, cover: 100, stroke: colour, dashed: false };
        canvas.rectangle([x, y - 10, 12, 12], 3, swatch, "");
        let ink = Ink { size: 13, colour: DARK, style: "font-weight:600" };
        canvas.text([x + 22, y], ink, &cut(name, 14, LEGEND_WIDTH - 22));
        y += 20;
        for behavior in holds {
            let out = behavior.left_out.is_some();
            let name = cut(own_name(&entry.path, &behavior.path), 12, 150);
            let style = if out { "text-decoration:line-through" } else { "" };
            let ink = Ink { size: 12, colour: if out { DIM } else { DARK }, style };
            canvas.text([x + 22, y], ink, &name);
            let note = if out { "left out" } else { behavior.scope.declaration.kind.noun() };
            canvas.text([x + 190, y], Ink { size: 11, colour: DIM, style: "" }, note);
            y += 18;
        }
        y += 14;
    }
    y
}

/// Groups, those inside before those around them.
fn groups_in_order(simulation: &Simulation) -> Vec<usize> {
    fn visit(simulation: &Simulation, group: usize, order: &mut Vec<usize>) {
        let groups = &simulation.tree().groups;
        for child in (0..groups.len()).filter(|&child| groups[child].parent == Some(group)) {
            visit(simulation, child, order);
        }
        order.push(group);
    }
    let mut order = Vec::new();
    visit(simulation, 0, &mut order);
    order
}

/// What the marks mean.
fn marks(canvas: &mut Canvas, y: i64) {
    let ink = Ink { size: 11, colour: DIM, style: "" };
    let filled = Paint { fill: ROOT, cover: 16, stroke: ROOT, dashed: false };
    let outlined = Paint { fill: "#ffffff", cover: 100, ..filled };
    canvas.diamond([EDGE + 5, y - 4], 4, "#c0392b", true);
    canvas.text([EDGE + 18, y], ink, "user-facing Stage");
    canvas.diamond([EDGE + 155, y - 4], 4, DARK, false);
    canvas.text([EDGE + 168, y], ink, "developer-facing Stage");
    canvas.rectangle([EDGE + 330, y - 10, 18, 12], 3, filled, "");
    canvas.text([EDGE + 356, y], ink, "Task of an Object");
    canvas.rectangle([EDGE + 480, y - 10, 18, 12], 3, outlined, "");
    canvas.text([EDGE + 506, y], ink, "Task of an Action");
    let dashed = Paint { dashed: true, ..outlined };
    canvas.rectangle([EDGE + 630, y - 10, 18, 12], 3, dashed, "");
    canvas.text([EDGE + 656, y], ink, "values and kernels of the user's own");
}
