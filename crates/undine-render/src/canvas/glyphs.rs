//! The letters of pictures and plots: a stroke font of our own, drawn like a clean technical sans.
//!
//! A glyph is the path of a round pen, so that one drawing serves every size and weight. Its places are whole numbers on a grid
//! of 64 units to the em, `y` upwards from the baseline, where the pen's middle goes: capitals are 40 high, small letters 29,
//! and descend to −12. Paths are written as in SVG (`M` move, `L` line, `C` cubic), with three letters of our own:
//! `A x y` is a quarter of a rounded arc that leaves sideways, `U x y` one that leaves upright, and `D x y` a dot.

/// Units of the glyphs' grid to the em.
pub const EM: f32 = 64.0;

/// How high capitals and digits are \[units\].
pub const CAPITAL: f32 = 40.0;

/// How high small letters are \[units\].
pub const SMALL: f32 = 29.0;

/// How far letters descend \[units\].
pub const DESCENT: f32 = 12.0;

/// How far handles of a quarter arc reach: an ellipse has 0.552, a little more gives the upright curves of technical lettering.
const HANDLE: f32 = 0.6;

/// Superscripts and subscripts are drawn this much smaller,
const SCRIPT_SCALE: f32 = 0.64;
/// with their foot here [units],
const SUPERSCRIPT_RISE: f32 = 17.0;
/// or here.
const SUBSCRIPT_RISE: f32 = -9.0;

/// What is drawn for a sign that this font does not have.
const UNKNOWN: Row = ('□', 22, 8, 8, "M0 0 L0 40 L22 40 L22 0 L0 0");

/// One step of the pen \[units\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Lifts the pen and goes there.
    Move([f32; 2]),
    /// Draws straight to there.
    Line([f32; 2]),
    /// Draws a cubic Bézier curve by two handles to there.
    Curve([f32; 2], [f32; 2], [f32; 2]),
    /// Sets a dot there, a little wider than the pen.
    Dot([f32; 2]),
}

/// A sign that is ready to be drawn \[units\].
#[derive(Debug, Clone)]
pub struct Glyph {
    /// How far it lies behind the place where it begins.
    pub left: f32,
    /// From where it begins to where the next one does.
    pub advance: f32,
    /// Whether it is a superscript or subscript, which want a finer pen.
    pub is_script: bool,
    /// The path of the pen.
    pub steps: Vec<Step>,
}

/// The glyph of a sign; an open box for one that this font does not have.
pub fn glyph(sign: char) -> Glyph {
    known(sign).unwrap_or_else(|| drawn(&UNKNOWN, 1.0, 0.0))
}

/// Whether this font has this sign.
pub fn is_known(sign: char) -> bool {
    known(sign).is_some()
}

fn known(sign: char) -> Option<Glyph> {
    if let Some((plain, rise)) = script(sign) {
        return Some(Glyph { is_script: true, ..drawn(row(plain)?, SCRIPT_SCALE, rise) });
    }
    if let Some(row) = row(sign) {
        return Some(drawn(row, 1.0, 0.0));
    }
    let (letter, mark) = marked(sign)?;
    let (letter, &(_, width, path)) =
        (row(letter)?, MARKS.iter().find(|(known, ..)| *known == mark)?);
    // The mark is over the middle of the letter, and higher over a capital; below, it hangs from the baseline.
    let across = 0.5 * (f32::from(letter.1) - f32::from(width));
    let up = if letter.0.is_uppercase() && mark != '¸' { CAPITAL - SMALL } else { 0.0 };
    let mut glyph = drawn(letter, 1.0, 0.0);
    glyph.steps.extend(steps(path, |x, y| [x + across, y + up]));
    Some(glyph)
}

/// The letter and the mark that a letter with a mark is made of.
fn marked(sign: char) -> Option<(char, char)> {
    let mut parts = MARKED.split(' ').map(str::chars);
    let mut found = parts.find_map(|mut part| (part.next() == Some(sign)).then_some(part))?;
    found.next().zip(found.next())
}

/// The plain sign that a superscript or subscript is made of, and where its foot is.
fn script(sign: char) -> Option<(char, f32)> {
    const RAISED: [(char, char); 14] = [
        ('⁰', '0'),
        ('¹', '1'),
        ('²', '2'),
        ('³', '3'),
        ('⁴', '4'),
        ('⁵', '5'),
        ('⁶', '6'),
        ('⁷', '7'),
        ('⁸', '8'),
        ('⁹', '9'),
        ('⁻', '-'),
        ('⁺', '+'),
        ('ⁿ', 'n'),
        ('ᵀ', 'T'),
    ];
    if let Some(&(_, plain)) = RAISED.iter().find(|(raised, _)| *raised == sign) {
        return Some((plain, SUPERSCRIPT_RISE));
    }
    let digit = u32::from(sign).checked_sub(u32::from('₀')).filter(|&digit| digit < 10)?;
    Some((char::from_digit(digit, 10)?, SUBSCRIPT_RISE))
}

fn row(sign: char) -> Option<&'static Row> {
    let sign = match sign {
        '\u{a0}' | '\t' | '\n' => ' ',
        '\u{2009}' => '\u{202f}',
        'μ' => 'µ',
        '‐' | '‑' => '-',
        '∆' => 'Δ',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        other => other,
    };
    ROWS.iter().find(|row| row.0 == sign)
}

fn drawn(&(_, width, left, right, path): &Row, scale: f32, rise: f32) -> Glyph {
    let steps = steps(path, |x, y| [x * scale, y * scale + rise]);
    let [width, left, right] = [width, left, right].map(f32::from);
    Glyph { left: left * scale, advance: (left + width + right) * scale, is_script: false, steps }
}

/// The steps of a path, with its places put elsewhere.
fn steps(path: &str, place: impl Fn(f32, f32) -> [f32; 2]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut pen = [0.0; 2];
    let mut words = path.split(' ');
    while let Some(word) = words.next().filter(|word| !word.is_empty()) {
        let (kind, first) = word.split_at(1);
        let mut number = || words.next().and_then(|word| word.parse::<f32>().ok()).unwrap_or(0.0);
        let x = first.parse::<f32>().unwrap_or(0.0);
        let y = number();
        let [px, py] = pen;
        let (step, end) = match kind {
            "M" => (Step::Move(place(x, y)), [x, y]),
            "D" => (Step::Dot(place(x, y)), [x, y]),
            "A" => {
                let a = place(px + HANDLE * (x - px), py);
                (Step::Curve(a, place(x, y + HANDLE * (py - y)), place(x, y)), [x, y])
            }
            "U" => {
                let a = place(px, py + HANDLE * (y - py));
                (Step::Curve(a, place(x + HANDLE * (px - x), y), place(x, y)), [x, y])
            }
            "C" => {
                let [bx, by, ex, ey] = [number(), number(), number(), number()];
                (Step::Curve(place(x, y), place(bx, by), place(ex, ey)), [ex, ey])
            }
            _ => (Step::Line(place(x, y)), [x, y]),
        };
        steps.push(step);
        pen = end;
    }
    steps
}

/// Letters with marks: each with the letter and the mark that it is made of.
const MARKED: &str = "àa` áa´ âa^ ãa~ äa¨ åa˚ çc¸ èe` ée´ êe^ ëe¨ ìı` íı´ îı^ ïı¨ ñn~ òo` óo´ ôo^ õo~ öo¨ ùu` úu´ ûu^ üu¨ \
    ýy´ ÿy¨ čcˇ řrˇ šsˇ žzˇ ÀA` ÁA´ ÂA^ ÃA~ ÄA¨ ÅA˚ ÇC¸ ÈE` ÉE´ ÊE^ ËE¨ ÌI` ÍI´ ÎI^ ÏI¨ ÑN~ ÒO` ÓO´ ÔO^ ÕO~ ÖO¨ ÙU` \
    ÚU´ ÛU^ ÜU¨ ÝY´ ČCˇ ŘRˇ ŠSˇ ŽZˇ";

/// Marks, as they are over a small letter: the sign, the width, and the path of the pen.
const MARKS: [(char, u8, &str); 8] = [
    ('`', 6, "M0 42 L6 35"),
    ('´', 6, "M0 35 L6 42"),
    ('^', 12, "M0 35 L6 42 L12 35"),
    ('ˇ', 12, "M0 42 L6 35 L12 42"),
    ('~', 16, "M0 36 C2 40 4 41 7 39 C10 37 13 36 16 40"),
    ('¨', 11, "D0 39 D11 39"),
    ('˚', 9, "M0 40 U4 45 A9 40 U4 36 A0 40"),
    ('¸', 5, "M3 0 L3 -4 C7 -5 6 -11 0 -10"),
];

/// A sign, the width of its body, the room left and right of it, and the path of the pen. The room is 8 beside an upright
/// stroke, 6 beside a round and 4 to 5 beside a slanted or open one, which makes gaps look even.
type Row = (char, u8, u8, u8, &'static str);

// One sign a line is easier to compare.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    (' ', 17, 0, 0, ""),
    ('\u{202f}', 8, 0, 0, ""),
    ('\u{2007}', 24, 6, 6, ""),
    // Capitals.
    ('A', 30, 4, 4, "M0 0 L15 40 L30 0 M5 13 L25 13"),
    ('B', 24, 8, 6, "M0 0 L0 40 L13 40 A22 31 U13 21 L0 21 M13 21 A24 11 U13 0 L0 0"),
    ('C', 28, 6, 4, "M28 32 C26 37 21 40 15 40 A0 20 U15 0 C21 0 26 3 28 8"),
    ('D', 27, 8, 6, "M0 0 L0 40 L11 40 A27 20 U11 0 L0 0"),
    ('E', 20, 8, 5, "M20 40 L0 40 L0 0 L20 0 M0 21 L17 21"),
    ('F', 19, 8, 4, "M19 40 L0 40 L0 0 M0 20 L16 20"),
    ('G', 29, 6, 7, "M28 32 C26 37 21 40 15 40 A0 20 U15 0 A29 14 L29 19 L17 19"),
    ('H', 26, 8, 8, "M0 0 L0 40 M26 0 L26 40 M0 21 L26 21"),
    ('I', 0, 8, 8, "M0 0 L0 40"),
    ('J', 16, 4, 8, "M16 40 L16 11 U7 0 C4 0 1 2 0 5"),
    ('K', 25, 8, 4, "M0 0 L0 40 M23 40 L0 15 M9 25 L25 0"),
    ('L', 19, 8, 4, "M0 40 L0 0 L19 0"),
    ('M', 32, 8, 8, "M0 0 L0 40 L16 12 L32 40 L32 0"),
    ('N', 26, 8, 8, "M0 0 L0 40 L26 0 L26 40"),
    ('O', 31, 6, 6, "M0 20 U15 40 A31 20 U15 0 A0 20"),
    ('P', 23, 8, 5, "M0 0 L0 40 L12 40 A23 29 U12 18 L0 18"),
    ('Q', 31, 6, 6, "M0 20 U15 40 A31 20 U15 0 A0 20 M20 8 L31 -4"),
    ('R', 24, 8, 5, "M0 0 L0 40 L12 40 A23 29 U12 18 L0 18 M13 18 L24 0"),
    ('S', 24, 5, 5, "M22 33 C21 37 17 40 12 40 C6 40 1 36 1 30 C1 24 6 22 12 20 C18 18 24 16 24 10 C24 4 19 0 12 0 C6 0 1 3 0 8"),
    ('T', 26, 4, 4, "M0 40 L26 40 M13 40 L13 0"),
    ('U', 26, 8, 8, "M0 40 L0 13 U13 0 A26 13 L26 40"),
    ('V', 28, 4, 4, "M0 40 L14 0 L28 40"),
    ('W', 42, 4, 4, "M0 40 L10 0 L21 36 L32 0 L42 40"),
    ('X', 26, 4, 4, "M0 40 L26 0 M26 40 L0 0"),
    ('Y', 28, 3, 3, "M0 40 L14 18 L28 40 M14 18 L14 0"),
    ('Z', 24, 5, 5, "M0 40 L24 40 L0 0 L24 0"),
    // Small letters.
    ('a', 20, 5, 8, "M1 24 C3 27 6 29 11 29 C17 29 20 26 20 20 L20 0 M20 17 L10 17 A0 8 U9 0 C14 0 18 3 20 7"),
    ('b', 22, 8, 6, "M0 42 L0 0 M0 15 U11 29 A22 15 U11 0 A0 15"),
    ('c', 20, 6, 4, "M20 23 C18 27 15 29 11 29 A0 15 U11 0 C15 0 18 2 20 6"),
    ('d', 22, 6, 8, "M22 42 L22 0 M22 15 U11 29 A0 15 U11 0 A22 15"),
    ('e', 22, 6, 5, "M0 16 L22 16 U11 29 A0 15 U11 0 C15 0 19 2 21 5"),
    ('f', 15, 4, 3, "M15 42 L13 42 A6 35 L6 0 M0 29 L14 29"),
    ('g', 22, 6, 8, "M22 15 U11 29 A0 15 U11 0 A22 15 M22 29 L22 -2 U12 -12 C8 -12 5 -11 2 -8"),
    ('h', 21, 8, 8, "M0 42 L0 0 M0 18 U11 29 A21 18 L21 0"),
    ('i', 0, 8, 8, "M0 29 L0 0 D0 40"),
    ('ı', 0, 8, 8, "M0 29 L0 0"),
    ('j', 1, 8, 8, "M1 29 L1 -5 U-6 -12 D1 40"),
    ('k', 20, 8, 4, "M0 42 L0 0 M18 29 L0 11 M7 18 L20 0"),
    ('l', 7, 8, 4, "M0 42 L0 7 U6 0 L7 0"),
    ('m', 36, 8, 8, "M0 29 L0 0 M0 19 U9 29 A18 19 L18 0 M18 19 U27 29 A36 19 L36 0"),
    ('n', 21, 8, 8, "M0 29 L0 0 M0 18 U11 29 A21 18 L21 0"),
    ('o', 23, 6, 6, "M0 15 U11 29 A23 15 U11 0 A0 15"),
    ('p', 22, 8, 6, "M0 29 L0 -12 M0 15 U11 29 A22 15 U11 0 A0 15"),
    ('q', 22, 6, 8, "M22 29 L22 -12 M22 15 U11 29 A0 15 U11 0 A22 15"),
    ('r', 13, 8, 3, "M0 29 L0 0 M0 17 U11 29 L13 29"),
    ('s', 18, 5, 5, "M17 24 C16 27 13 29 9 29 C4 29 1 26 1 22 C1 17 5 16 9 15 C14 14 18 12 18 7 C18 3 14 0 9 0 C4 0 1 2 0 5"),
    ('ß', 22, 8, 6, "M0 0 L0 31 U10 42 C16 42 19 39 19 34 C19 29 15 28 13 24 C12 20 22 18 22 9 C22 3 18 0 13 0 C11 0 9 0 8 1"),
    ('t', 14, 4, 4, "M6 38 L6 8 U13 0 L14 0 M0 29 L14 29"),
    ('u', 21, 8, 8, "M0 29 L0 11 U10 0 A21 11 M21 29 L21 0"),
    ('v', 21, 4, 4, "M0 29 L10 0 L21 29"),
    ('w', 34, 4, 4, "M0 29 L8 0 L17 26 L26 0 L34 29"),
    ('x', 19, 4, 4, "M0 29 L19 0 M19 29 L0 0"),
    ('y', 21, 4, 4, "M0 29 L10 0 M21 29 L8 -6 C6 -10 4 -12 0 -12"),
    ('z', 18, 5, 5, "M0 29 L18 29 L0 0 L18 0"),
    // Digits all take the same room, so that numbers stand under each other.
    ('0', 24, 6, 6, "M0 20 U12 40 A24 20 U12 0 A0 20"),
    ('1', 24, 6, 6, "M5 32 L15 40 L15 0"),
    ('2', 24, 6, 6, "M1 31 C2 37 6 40 12 40 C19 40 23 36 23 30 C23 24 19 20 15 16 L0 0 L24 0"),
    ('3', 24, 6, 6, "M1 33 C3 37 7 40 12 40 C18 40 22 36 22 31 C22 25 18 21 12 21 L9 21 M12 21 C19 21 24 17 24 11 C24 4 19 0 12 0 C6 0 2 3 0 8"),
    ('4', 24, 6, 6, "M18 0 L18 40 L0 11 L25 11"),
    ('5', 24, 6, 6, "M21 40 L4 40 L2 21 C5 24 8 25 12 25 C19 25 24 20 24 13 C24 5 19 0 12 0 C6 0 2 3 0 7"),
    ('6', 24, 6, 6, "M19 40 C8 34 0 25 0 13 M0 12 U12 25 A24 12 U12 0 A0 12"),
    ('7', 24, 6, 6, "M0 40 L24 40 L8 0"),
    ('8', 24, 6, 6, "M2 31 U12 40 A22 31 U12 21 A2 31 M0 10 U12 21 A24 10 U12 0 A0 10"),
    ('9', 24, 6, 6, "M5 0 C16 6 24 15 24 27 M24 28 U12 15 A0 28 U12 40 A24 28"),
    // What stands between them.
    ('.', 0, 7, 7, "D0 1"),
    (',', 3, 6, 7, "M3 1 L0 -7"),
    (':', 0, 8, 8, "D0 1 D0 26"),
    (';', 3, 6, 8, "M3 1 L0 -7 D3 26"),
    ('!', 0, 8, 8, "M0 40 L0 13 D0 1"),
    ('?', 20, 5, 5, "M0 33 C2 38 6 40 10 40 C16 40 20 36 20 31 C20 23 10 22 10 13 D10 1"),
    ('"', 9, 7, 7, "M0 40 L0 30 M9 40 L9 30"),
    ('\'', 0, 7, 7, "M0 40 L0 30"),
    ('#', 25, 5, 5, "M9 40 L5 0 M20 40 L16 0 M1 27 L25 27 M0 13 L24 13"),
    ('$', 24, 7, 7, "M22 33 C21 37 17 40 12 40 C6 40 1 36 1 30 C1 24 6 22 12 20 C18 18 24 16 24 10 C24 4 19 0 12 0 C6 0 1 3 0 8 M12 46 L12 -6"),
    ('%', 36, 5, 5, "M0 31 U7 40 A14 31 U7 22 A0 31 M29 40 L7 0 M22 9 U29 18 A36 9 U29 0 A22 9"),
    ('&', 28, 5, 4, "M28 0 L8 26 C6 29 5 31 5 33 C5 37 8 40 12 40 C16 40 19 37 19 33 C19 24 0 23 0 11 C0 4 5 0 11 0 C19 0 26 7 27 19"),
    ('(', 8, 7, 4, "M8 45 C3 39 0 29 0 19 C0 9 3 -1 8 -8"),
    (')', 8, 4, 7, "M0 45 C5 39 8 29 8 19 C8 9 5 -1 0 -8"),
    ('*', 14, 5, 5, "M7 40 L7 24 M0 36 L14 28 M14 36 L0 28"),
    ('+', 24, 7, 7, "M12 30 L12 6 M0 18 L24 18"),
    ('-', 13, 6, 6, "M0 16 L13 16"),
    ('/', 18, 4, 4, "M18 43 L0 -5"),
    ('\\', 18, 4, 4, "M0 43 L18 -5"),
    ('<', 21, 7, 7, "M21 30 L0 18 L21 6"),
    ('=', 24, 7, 7, "M0 24 L24 24 M0 12 L24 12"),
    ('>', 21, 7, 7, "M0 30 L21 18 L0 6"),
    ('@', 38, 6, 6, "M11 17 U19 26 A27 17 U19 8 A11 17 M27 26 L27 14 C27 10 29 8 32 8 C36 8 38 12 38 18 C38 31 30 39 19 39 C8 39 0 30 0 17 C0 3 8 -6 20 -6 C25 -6 28 -5 31 -3"),
    ('[', 8, 8, 4, "M8 45 L0 45 L0 -8 L8 -8"),
    (']', 8, 4, 8, "M0 45 L8 45 L8 -8 L0 -8"),
    ('^', 20, 5, 5, "M0 24 L10 40 L20 24"),
    ('_', 26, 4, 4, "M0 -6 L26 -6"),
    ('`', 6, 6, 6, "M0 42 L6 35"),
    ('{', 10, 6, 4, "M10 45 A4 38 L4 25 C4 21 3 19 0 19 C3 19 4 17 4 13 L4 -1 U10 -8"),
    ('|', 0, 8, 8, "M0 45 L0 -8"),
    ('}', 10, 4, 6, "M0 45 A6 38 L6 25 C6 21 7 19 10 19 C7 19 6 17 6 13 L6 -1 U0 -8"),
    ('~', 26, 6, 6, "M0 15 C2 21 5 22 8 21 C13 20 13 16 18 15 C21 14 24 15 26 21"),
    ('−', 24, 7, 7, "M0 18 L24 18"),
    ('–', 24, 5, 5, "M0 16 L24 16"),
    ('—', 40, 5, 5, "M0 16 L40 16"),
    ('…', 28, 7, 7, "D0 1 D14 1 D28 1"),
    ('·', 0, 8, 8, "D0 17"),
    ('•', 0, 10, 10, "D0 17"),
    // What units and formulas need.
    ('°', 11, 6, 6, "M0 34 U5 40 A11 34 U5 28 A0 34"),
    ('µ', 21, 8, 8, "M0 29 L0 -12 M0 11 U10 0 A21 11 M21 29 L21 0"),
    ('×', 20, 7, 7, "M0 28 L20 8 M20 28 L0 8"),
    ('÷', 24, 7, 7, "M0 18 L24 18 D12 29 D12 7"),
    ('±', 24, 7, 7, "M12 34 L12 12 M0 23 L24 23 M0 2 L24 2"),
    ('≈', 26, 6, 6, "M0 20 C2 26 5 27 8 26 C13 25 13 21 18 20 C21 19 24 20 26 26 M0 8 C2 14 5 15 8 14 C13 13 13 9 18 8 C21 7 24 8 26 14"),
    ('≤', 21, 7, 7, "M21 34 L0 23 L21 12 M0 2 L21 2"),
    ('≥', 21, 7, 7, "M0 34 L21 23 L0 12 M0 2 L21 2"),
    ('≠', 24, 7, 7, "M0 24 L24 24 M0 12 L24 12 M18 32 L6 4"),
    ('→', 28, 6, 6, "M0 18 L28 18 M19 27 L28 18 L19 9"),
    ('←', 28, 6, 6, "M28 18 L0 18 M9 27 L0 18 L9 9"),
    ('↑', 18, 6, 6, "M9 0 L9 38 M0 29 L9 38 L18 29"),
    ('↓', 18, 6, 6, "M9 38 L9 0 M0 9 L9 0 L18 9"),
    ('∇', 30, 4, 4, "M0 40 L15 0 L30 40 L0 40"),
    ('∂', 20, 6, 6, "M3 38 C5 41 8 42 10 42 C17 42 20 34 20 21 C20 8 16 0 9 0 C3 0 0 4 0 10 C0 18 5 23 11 23 C16 23 20 19 20 15"),
    ('√', 28, 4, 4, "M0 20 L5 22 L11 0 L22 42 L28 42"),
    ('∞', 32, 6, 6, "M16 17 C12 23 10 26 7 26 C3 26 0 22 0 17 C0 12 3 8 7 8 C10 8 12 11 16 17 C20 23 22 26 25 26 C29 26 32 22 32 17 C32 12 29 8 25 8 C22 8 20 11 16 17"),
    // Greek.
    ('α', 25, 6, 4, "M24 29 C20 14 16 0 9 0 C3 0 0 6 0 14 C0 23 4 29 10 29 C17 29 19 14 20 6 C21 2 23 0 25 0"),
    ('β', 22, 8, 6, "M0 -12 L0 31 U10 42 C16 42 19 38 19 33 C19 27 15 24 10 24 L8 24 M10 24 C17 24 22 19 22 12 C22 4 17 0 11 0 C6 0 2 2 0 5"),
    ('γ', 21, 4, 4, "M0 29 L10 2 L21 29 M10 2 L10 -12"),
    ('Γ', 19, 8, 4, "M19 40 L0 40 L0 0"),
    ('δ', 22, 6, 6, "M18 38 C16 41 13 42 11 42 C7 42 4 40 4 36 C4 31 22 27 22 14 C22 6 18 0 11 0 C4 0 0 6 0 13 C0 21 4 27 12 27"),
    ('Δ', 30, 4, 4, "M0 0 L15 40 L30 0 L0 0"),
    ('ε', 18, 6, 4, "M17 25 C15 28 12 29 9 29 C4 29 1 26 1 22 C1 18 4 16 9 16 L11 16 M9 16 C3 16 0 13 0 8 C0 3 4 0 9 0 C13 0 16 1 18 5"),
    ('η', 21, 8, 8, "M0 29 L0 0 M0 18 U11 29 A21 18 L21 -12"),
    ('θ', 21, 6, 6, "M0 21 U10 42 A21 21 U10 0 A0 21 M0 21 L21 21"),
    ('κ', 20, 8, 4, "M0 29 L0 0 M18 29 L0 11 M7 18 L20 0"),
    ('λ', 21, 4, 4, "M0 42 L3 42 C6 42 8 40 9 36 L21 0 M12 27 L0 0"),
    ('ν', 21, 4, 4, "M0 29 L10 0 L21 29"),
    ('π', 24, 4, 4, "M0 29 L24 29 M6 29 L6 0 M18 29 L18 0"),
    ('ρ', 22, 8, 6, "M0 -12 L0 15 U11 29 A22 15 U11 0 A0 15"),
    ('σ', 26, 6, 4, "M0 15 U11 29 A23 15 U11 0 A0 15 M11 29 L26 29"),
    ('Σ', 23, 6, 5, "M23 40 L0 40 L14 20 L0 0 L23 0"),
    ('τ', 18, 4, 4, "M0 29 L18 29 M9 29 L9 7 U15 0"),
    ('φ', 30, 6, 6, "M0 15 U15 29 A30 15 U15 0 A0 15 M15 40 L15 -12"),
    ('ω', 30, 6, 6, "M5 29 C1 25 0 19 0 13 C0 5 3 0 8 0 C13 0 15 4 15 11 C15 4 17 0 22 0 C27 0 30 5 30 13 C30 19 29 25 25 29"),
    ('Ω', 30, 5, 5, "M0 0 L10 0 L10 3 C4 7 1 14 1 22 C1 33 7 40 15 40 C23 40 29 33 29 22 C29 14 26 7 20 3 L20 0 L30 0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_of_known_letters_with_all_their_numbers() {
        let marks = MARKS.iter().map(|(sign, _, path)| (sign, path));
        for (sign, path) in ROWS.iter().map(|(sign, .., path)| (sign, path)).chain(marks) {
            let mut left = 0;
            for word in path.split(' ').filter(|word| !word.is_empty()) {
                let number = word.trim_start_matches(|letter: char| "MLCAUD".contains(letter));
                assert!(number.parse::<i8>().is_ok(), "{sign}: {word}");
                if number.len() < word.len() {
                    assert_eq!(left, 0, "{sign}: too few numbers before {word}");
                    left = if word.starts_with('C') { 6 } else { 2 };
                }
                assert!(left > 0, "{sign}: too many numbers at {word}");
                left -= 1;
            }
            assert_eq!(left, 0, "{sign}: too few numbers at the end");
            let begins = path.is_empty() || path.starts_with('M') || path.starts_with('D');
            assert!(begins, "{sign} begins nowhere");
        }
    }

    #[test]
    fn no_sign_is_drawn_twice() {
        for (n, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..n].iter().all(|before| before.0 != row.0), "{}", row.0);
        }
    }

    #[test]
    fn all_printable_ascii_and_the_signs_of_units_are_known() {
        let units = "°µμ×·²³−–…⁻¹αρσΔΩ±≤≥→∇√∞₀₉⁹";
        for sign in (' '..='~').chain(units.chars()) {
            assert!(is_known(sign), "{sign}");
        }
        for part in MARKED.split(' ') {
            assert!(part.chars().count() == 3 && is_known(part.chars().next().unwrap()), "{part}");
        }
        for sign in ['漢', '\u{7f}', '\u{0}', '🌊'] {
            assert!(!is_known(sign));
            assert_eq!(glyph(sign).steps.len(), 5);
        }
    }

    #[test]
    fn digits_take_the_same_room() {
        let widths: Vec<f32> = ('0'..='9').map(|digit| glyph(digit).advance).collect();
        assert!(widths.iter().all(|&width| width == widths[0]));
        assert_eq!(glyph('\u{2007}').advance, widths[0]);
    }

    #[test]
    fn a_superscript_is_smaller_and_higher() {
        let [plain, raised] = ['2', '²'].map(glyph);
        assert!(raised.advance < plain.advance);
        let Step::Move([_, low]) = raised.steps[0] else { panic!() };
        assert!(low > CAPITAL * 0.8);
    }
}
