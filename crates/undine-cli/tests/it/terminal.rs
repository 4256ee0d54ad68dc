//! What is printed fits the terminal it is printed to.

use crate::program::undine;
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

/// Both ends of a terminal that is so many letters wide: that of the person, and that of the program.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut person, mut program) = (-1, -1);
    // SAFETY: both numbers and the size outlive the call; no name and no settings are asked for.
    let opened = unsafe {
        let none = std::ptr::null_mut();
        libc::openpty(&mut person, &mut program, none, std::ptr::null(), &size)
    };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were opened just now, and nobody else has them.
    unsafe { (File::from_raw_fd(person), OwnedFd::from_raw_fd(program)) }
}

#[test]
fn help_is_as_wide_as_the_terminal() {
    for columns in [60, 110] {
        let (mut person, program) = terminal(columns);
        let mut command = undine(&["help", "drag"]);
        command.env_remove("COLUMNS").stdout(program);
        let mut child = command.spawn().expect("the program starts");
        // The command holds the program's end open; without it, reading ends with the program.
        drop(command);
        let mut text = Vec::new();
        // A terminal whose program has gone away ends with an error.
        let _ = person.read_to_end(&mut text);
        assert!(child.wait().expect("an end").success());
        let text = String::from_utf8(text).expect("a text");
        let prose = text.lines().take_while(|line| !line.starts_with("Example"));
        let widest = prose.map(|line| line.trim_end().chars().count()).max().unwrap();
        let limit = usize::from(columns);
        assert!(widest <= limit && widest > limit * 2 / 3, "{widest} of {columns}\n{text}");
    }
}
