//! Legends, contact sheets and differences.

use crate::pictures::{display, image};
use undine_render::difference::{VISIBLE, side_by_side};
use undine_render::legend::moment;
use undine_render::{ColourBar, ColourMap, Difference, Display, Legend, Sheet, SheetFrame, Size};

fn plain(width: usize, height: usize, ink: [u8; 4]) -> Display {
    let size = Size::new(width, height).unwrap();
    Display { size, pixels: vec![ink; size.pixels()] }
}

fn legend(low: f64, high: f64) -> Legend {
    let colours = ColourBar {
        map: ColourMap::default(),
        low,
        high,
        name: "speed".into(),
        unit: "m/s".into(),
    };
    Legend {
        title: Some("dam-break".into()),
        moment: Some(moment(48, 2.0)),
        colours: Some(colours),
        metres_per_pixel: Some(0.01),
    }
}

#[test]
fn a_legend_is_legible_on_black_and_on_white() {
    for ground in [[0, 0, 0, 255], [255; 4]] {
        let written = legend(0.0, 8.0).on(&plain(640, 360, ground)).unwrap();
        let corner = |x: usize| {
            let rows = written.pixels.chunks(640).skip(300);
            rows.flat_map(move |row| &row[x..x + 200]).map(|pixel| pixel[1]).collect::<Vec<u8>>()
        };
        for corner in [corner(0), corner(440)] {
            // Light letters on a dark panel, on whatever ground.
            let light = corner.iter().filter(|&&byte| byte > 200).count();
            let dark = corner.iter().filter(|&&byte| byte < 130).count();
            assert!(light > 100 && dark > 1000, "{ground:?}: {light} {dark}");
        }
        // The upper half is left alone.
        assert!(written.pixels[..640 * 180].iter().all(|&pixel| pixel == ground));
    }
}

#[test]
fn the_bar_of_a_legend_has_the_colours_of_its_map() {
    let written = legend(0.0, 8.0).on(&plain(640, 360, [0, 0, 0, 255])).unwrap();
    for t in [0.25, 0.5, 0.75] {
        let near = |pixel: &[u8; 4]| {
            pixel.iter().zip(ColourMap::default().ink(t)).all(|(a, b)| a.abs_diff(b) <= 3)
        };
        assert!(written.pixels.iter().any(near), "{t}");
    }
}

#[test]
fn a_legend_without_room_or_range_is_left_out() {
    for (width, height) in [(1, 1), (20, 300), (300, 9), (64, 64), (2000, 40)] {
        legend(0.0, 8.0).on(&plain(width, height, [90; 4])).unwrap();
    }
    for (low, high) in
        [(0.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (5.0, -5.0), (-1e300, 1e300)]
    {
        legend(low, high).on(&plain(640, 360, [90; 4])).unwrap();
    }
    for metres_per_pixel in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
        let legend = Legend { metres_per_pixel: Some(metres_per_pixel), ..Legend::default() };
        legend.on(&plain(640, 360, [90; 4])).unwrap();
    }
    let nothing = plain(640, 360, [90, 90, 90, 255]);
    assert_eq!(Legend::default().on(&nothing).unwrap(), nothing);
    let long = Legend { title: Some("very long ".repeat(100)), ..legend(0.0, 1.0) };
    long.on(&nothing).unwrap();
}

#[test]
fn a_scale_bar_is_as_long_as_it_says() {
    // 1 cm to a pixel: of 640 pixels up to 22 % are 1 m.
    let legend = Legend { metres_per_pixel: Some(0.01), ..Legend::default() };
    let written = legend.on(&plain(640, 360, [0, 0, 0, 255])).unwrap();
    let longest = written
        .pixels
        .chunks(640)
        .map(|row| row.split(|pixel| pixel[1] < 200).map(<[[u8; 4]]>::len).max().unwrap_or(0));
    assert_eq!(longest.max(), Some(100));
}

fn frames(count: usize) -> Vec<SheetFrame> {
    let frame = |n: usize| SheetFrame { label: (n + 1).to_string(), display: display(64, 36, n) };
    (0..count).map(frame).collect()
}

#[test]
fn a_sheet_is_as_wide_as_asked_and_shows_every_frame_it_chose() {
    let colour = |n: usize| [10 * n as u8, 255 - 10 * n as u8, 128, 255];
    let frame = |n: usize| SheetFrame { label: n.to_string(), display: plain(64, 36, colour(n)) };
    let frames: Vec<SheetFrame> = (0..20).map(frame).collect();
    let sheet =
        Sheet { title: "dam-break".into(), columns: 3, most: 6, width: 640, ..Sheet::default() };
    let shown = sheet.of(&frames).unwrap();
    assert_eq!(shown.size.width, 640);
    for n in 0..20 {
        let count = shown.pixels.iter().filter(|&&pixel| pixel == colour(n)).count();
        // A third of the width without gaps, in the shape of the frames, but for the fine edge.
        let wanted = if sheet.chosen(20).contains(&n) { 18_000..24_000 } else { 0..1 };
        assert!(wanted.contains(&count), "frame {n} has {count} pixels");
    }
}

#[test]
fn a_sheet_of_one_or_of_different_shapes_can_be_made_and_of_none_not() {
    Sheet::default().of(&frames(1)).unwrap();
    let mut mixed = frames(3);
    mixed[1].display = display(10, 90, 0);
    mixed[2].display = display(1, 1, 0);
    Sheet::default().of(&mixed).unwrap();
    assert!(Sheet::default().of(&[]).is_err());
    for width in [0, 1, 30] {
        let said = Sheet { width, ..Sheet::default() }.of(&frames(4)).unwrap_err().to_string();
        assert!(said.contains("columns need at least"), "{said}");
    }
    let odd = Sheet { columns: 0, most: 0, ..Sheet::default() };
    odd.of(&frames(4)).unwrap();
}

#[test]
fn the_same_picture_has_no_difference() {
    let picture = display(64, 40, 1);
    let difference = Difference::of(&picture, &picture).unwrap();
    assert_eq!((difference.mean, difference.greatest, difference.visible), (0.0, 0.0, 0.0));
    difference.view(0.1).unwrap();
}

#[test]
fn black_and_white_differ_by_one() {
    let difference =
        Difference::of(&plain(20, 20, [0, 0, 0, 255]), &plain(20, 20, [255; 4])).unwrap();
    for value in [difference.mean, difference.most, difference.greatest, difference.visible] {
        assert!((value - 1.0).abs() < 1e-3, "{difference}");
    }
}

#[test]
fn noise_that_moves_by_a_pixel_counts_less_than_a_shape_that_changes() {
    let noise = |shift: usize| {
        let pixel = |n: usize| {
            let (x, y) = (n % 64 + shift, n / 64);
            let byte = 118 + (((x * 7919 + y * 104_729) * 2_654_435_761) >> 13 & 15) as u8;
            [byte, byte, byte, 255]
        };
        Display { size: Size::new(64, 64).unwrap(), pixels: (0..64 * 64).map(pixel).collect() }
    };
    let moved = Difference::of(&noise(0), &noise(1)).unwrap();
    assert!(moved.mean < VISIBLE && moved.most < 1.6 * VISIBLE, "{moved}");
    let mut changed = noise(0);
    (20..30).for_each(|y| changed.pixels[y * 64 + 40..y * 64 + 50].fill([220, 60, 40, 255]));
    let changed = Difference::of(&noise(0), &changed).unwrap();
    assert!(changed.greatest > 5.0 * VISIBLE, "{changed}");
    let [x, y] = changed.at;
    assert!((38..52).contains(&x) && (18..32).contains(&y), "{changed}");
}

#[test]
fn pictures_of_different_sizes_cannot_be_compared() {
    let said = Difference::of(&display(20, 10, 0), &display(21, 10, 0)).unwrap_err().to_string();
    assert!(said.contains("21x10") && said.contains("20x10"), "{said}");
    assert!(Difference::of_images(&image(20, 10), &image(20, 11), 0.0).is_err());
}

#[test]
fn linear_light_is_compared_as_it_is_shown() {
    let (dark, mut light) = (image(20, 10), image(20, 10));
    assert_eq!(Difference::of_images(&dark, &light, -2.0).unwrap().greatest, 0.0);
    light.light.iter_mut().for_each(|light| *light *= 0.5);
    assert!(Difference::of_images(&dark, &light, -2.0).unwrap().mean > VISIBLE);
}

#[test]
fn two_pictures_stand_beside_their_difference() {
    let (a, b) = (display(200, 120, 0), display(200, 120, 5));
    let whole = side_by_side(("A", &a), ("B", &b), 0.0).unwrap();
    assert!(whole.size.width > 600 && whole.size.height > 120);
}

#[test]
fn differences_and_sheets_are_the_same_on_any_number_of_threads() {
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let difference = Difference::of(&display(99, 77, 0), &display(99, 77, 4)).unwrap();
            (difference, Sheet::default().of(&frames(5)).unwrap())
        })
    };
    let alone = made(1);
    assert!([2, 3, 7].into_iter().all(|threads| made(threads) == alone));
}
