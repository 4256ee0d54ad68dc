//! What is drawn is where it was asked for, whatever was asked for.

use crate::pictures::display;
use proptest::prelude::*;
use undine_render::canvas::{Area, Lettering, Pen, capital_height, resized, width_of};
use undine_render::{Canvas, Display, Size};

const WHITE: [u8; 4] = [255; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

fn white(width: usize, height: usize) -> Canvas {
    Canvas::new(Size::new(width, height).unwrap(), WHITE).unwrap()
}

/// How much ink is on a picture, in pixels of black, and the middle of it.
fn ink(display: &Display) -> (f32, [f32; 2]) {
    let (mut sum, mut middle) = (0.0, [0.0; 2]);
    for (n, pixel) in display.pixels.iter().enumerate() {
        let dark = 1.0 - f32::from(pixel[1]) / 255.0;
        sum += dark;
        middle[0] += dark * ((n % display.size.width) as f32 + 0.5);
        middle[1] += dark * ((n / display.size.width) as f32 + 0.5);
    }
    (sum, middle.map(|x| x / sum.max(1e-6)))
}

/// The edges of what is drawn: left, top, right and bottom [px].
fn edges(display: &Display) -> [usize; 4] {
    let width = display.size.width;
    let dark = display.pixels.iter().enumerate().filter(|(_, pixel)| pixel[1] < 250);
    dark.fold([usize::MAX, usize::MAX, 0, 0], |[left, top, right, bottom], (n, _)| {
        let (x, y) = (n % width, n / width);
        [left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)]
    })
}

#[test]
fn shapes_cover_their_area_about_their_middle() {
    let draw = |draw: &dyn Fn(&mut Canvas)| {
        let mut canvas = white(100, 100);
        draw(&mut canvas);
        ink(&canvas.finished())
    };
    let pen = Pen::new(BLACK, 3.0);
    let drawn = [
        (
            draw(&|canvas| canvas.rectangle(Area::new(20.25, 30.5, 40.0, 20.5), BLACK)),
            820.0,
            [40.25, 40.75],
        ),
        (draw(&|canvas| canvas.disc([50.0, 40.0], 20.0, BLACK)), 1256.6, [50.0, 40.0]),
        (
            draw(&|canvas| canvas.polygon(&[[10.0, 10.0], [70.0, 10.0], [10.0, 70.0]], BLACK)),
            1800.0,
            [30.0, 30.0],
        ),
        // A line with a round end on either side.
        (draw(&|canvas| canvas.line([20.0, 20.0], [80.0, 60.0], &pen)), 216.3 + 7.07, [50.0, 40.0]),
        (
            draw(&|canvas| canvas.rounded(Area::new(20.0, 20.0, 40.0, 40.0), 10.0, BLACK)),
            1514.2,
            [40.0, 40.0],
        ),
        (draw(&|canvas| canvas.circle([50.0, 50.0], 30.0, &pen)), 565.5, [50.0, 50.0]),
        (
            draw(&|canvas| canvas.line([10.0, 50.0], [90.0, 50.0], &pen.dashed(5.0, 5.0))),
            120.0,
            [47.5, 50.0],
        ),
    ];
    for ((area, middle), wanted, place) in drawn {
        assert!((area / wanted - 1.0).abs() < 0.02, "{area} instead of {wanted}");
        let apart = (middle[0] - place[0]).abs().max((middle[1] - place[1]).abs());
        assert!(apart < 0.3, "{middle:?} instead of {place:?}");
    }
}

#[test]
fn text_stands_on_its_line_and_begins_at_its_place() {
    for size in [9.0, 12.0, 20.0, 37.0] {
        let mut canvas = white(300, 100);
        canvas.text([100.0, 60.0], "HEH", &Lettering::new(size, BLACK));
        let [left, top, right, bottom] = edges(&canvas.finished()).map(|n| n as f32);
        assert_eq!(bottom, 60.0);
        assert!((60.0 - top - capital_height(size)).abs() <= 1.0, "{size}: {top}");
        assert!(left >= 100.0 && right <= 100.0 + width_of("HEH", size), "{size}: {left} {right}");
    }
}

#[test]
fn aligned_text_ends_or_is_centred_at_its_place() {
    let draw = |lettering: Lettering| {
        let mut canvas = white(300, 300);
        canvas.text([150.0, 150.0], "OHHO", &lettering);
        edges(&canvas.finished()).map(|n| n as f32)
    };
    let lettering = Lettering::new(20.0, BLACK);
    let width = width_of("OHHO", 20.0);
    let [left, _, right, _] = draw(lettering.centred());
    assert!((0.5 * (left + right) - 150.0).abs() <= 1.0, "{left} {right}");
    let [left, _, right, _] = draw(lettering.right());
    assert!(right <= 150.0 && left >= 150.0 - width, "{left} {right}");
    // Turned, it reads upwards and stands on its right.
    let [left, top, right, bottom] = draw(lettering.turned());
    assert!(right == 150.0 && left < 150.0 && bottom <= 150.0 && top >= 150.0 - width);
}

#[test]
fn a_sign_that_is_not_known_is_a_box() {
    let draw = |text: &str| {
        let mut canvas = white(60, 60);
        canvas.text([10.0, 50.0], text, &Lettering::new(40.0, BLACK));
        canvas.finished()
    };
    assert!(ink(&draw("漢")).0 > 100.0);
    assert_eq!(draw("漢"), draw("字"));
}

#[test]
fn nothing_is_drawn_outside_of_a_clip() {
    let mut canvas = white(50, 50);
    canvas.clipped(Area::new(10.0, 10.0, 20.0, 20.0), |canvas| {
        canvas.rectangle(Area::new(0.0, 0.0, 50.0, 50.0), BLACK);
        canvas.line([0.0, 0.0], [50.0, 50.0], &Pen::new(BLACK, 9.0));
    });
    canvas.rectangle(Area::new(40.0, 40.0, 5.0, 5.0), BLACK);
    assert_eq!(ink(&canvas.finished()).0.round(), 425.0);
}

#[test]
fn a_picture_that_is_not_drawn_on_stays_as_it_was() {
    let whole = display(31, 17, 1);
    assert_eq!(Canvas::on(&whole).unwrap().finished(), whole);
    let broken = Display { size: whole.size, pixels: vec![BLACK; 3] };
    assert!(Canvas::on(&broken).is_err());
}

#[test]
fn a_picture_is_placed_where_it_fits_and_cut_where_not() {
    let small = display(8, 6, 0);
    let mut canvas = white(20, 20);
    canvas.place(&small, [10, 10]);
    let whole = canvas.finished();
    for (n, pixel) in small.pixels.iter().enumerate() {
        assert_eq!(whole.pixels[(10 + n / 8) * 20 + 10 + n % 8], *pixel);
    }
    for place in [[-4, -4], [16, 16], [-100, 3], [i64::MAX - 100, i64::MIN]] {
        white(20, 20).place(&small, place);
    }
}

#[test]
fn a_smaller_picture_is_the_same_on_any_number_of_threads() {
    let large = display(301, 203, 2);
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| resized(&large, Size::new(97, 61).unwrap()))
    };
    let alone = made(1);
    assert!([2, 3, 7].into_iter().all(|threads| made(threads) == alone));
}

/// Numbers that are reasonable, or not at all.
fn wild() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -100.0..200.0_f32,
        1 => any::<f32>(),
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::MAX), Just(-f32::MAX), Just(0.0)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn whatever_is_asked_for_is_drawn_or_left_out(n in prop::array::uniform8(wild()), text in ".{0,6}") {
        let [a, b, c, d, e, f, g, h] = n;
        let mut canvas = white(64, 48);
        let pen = Pen::new([10, 20, 30, 100], g);
        canvas.polyline(&[[a, b], [c, d], [e, f]], &pen);
        canvas.polyline(&[[a, b], [c, d]], &Pen { width: 1.0, ..pen }.dashed(g, h));
        canvas.polygon(&[[a, b], [c, d], [e, f]], BLACK);
        canvas.rounded(Area::new(a, b, c, d), e, BLACK);
        canvas.outline(Area::new(a, b, c, d), e, &pen);
        canvas.shadow(Area::new(a, b, c, d), f, BLACK);
        canvas.disc([a, b], c, BLACK);
        canvas.circle([a, b], c, &pen);
        canvas.text([a, b], &text, &Lettering { weight: h, ..Lettering::new(c, BLACK) }.with_halo(WHITE));
        canvas.clipped(Area::new(a, b, c, d), |canvas| canvas.rectangle(Area::new(e, f, g, h), BLACK));
        prop_assert_eq!(canvas.finished().pixels.len(), 64 * 48);
    }
}
