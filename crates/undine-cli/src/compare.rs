//! `undine compare`: the same frame of two caches beside each other, and how much they differ.

use crate::arguments::Compare as Arguments;
use crate::progress::Working;
use crate::render::{chosen, tell, threads};
use crate::{print, whole};
use std::path::PathBuf;
use undine::ExitCode;
use undine::view::{Distances, Source, ViewError, compare as compared};
use undine_render::files::{self, png};

/// Compares two caches.
pub fn compare(arguments: &Arguments) -> ExitCode {
    if let Err(code) = threads(arguments.pictures.threads) {
        return code;
    }
    let _working = Working::begin("drawing", false);
    drawn(arguments).unwrap_or_else(|why| tell(&why))
}

fn drawn(arguments: &Arguments) -> Result<ExitCode, ViewError> {
    let (a, b) = (Source::open(&arguments.one)?, Source::open(&arguments.other)?);
    let render = chosen(&a.render(None)?, &arguments.pictures)?;
    let frame = match arguments.frame {
        Some(frame) => {
            for source in [&a, &b] {
                let asked = undine::view::Frames { first: frame, last: frame, step: 1 };
                source.chosen(Some(asked))?;
            }
            frame
        }
        // The last one that both have.
        None => match a.frames.iter().rev().find(|frame| b.frames.contains(frame)) {
            Some(frame) => *frame,
            None => {
                let why = format!("it has no frame that {} has, too", b.what);
                return Err(ViewError::Nothing { what: a.what.clone(), why });
            }
        },
    };
    let found = compared([&a, &b], frame, &render)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("."));
    undine::preview::album::make_folder(&folder)?;
    let write = |name: String, display| -> Result<String, ViewError> {
        let path = folder.join(name);
        files::write(&path, &png::encoded(display, &[])?)?;
        Ok(format!("{} is written\n", whole(&path)))
    };
    let mut told = format!("frame {frame}\n  pictures  {}\n", found.difference);
    if let Some(Distances { both, alone, differ, mean, most, greatest }) = found.distances {
        told += &format!(
            "  points    {differ} of {both} differ: mean {mean:.3e} m, 95 % below {most:.3e} m, greatest {greatest:.3e} m\n"
        );
        if alone > 0 {
            told += &format!("            {alone} are in one of them only\n");
        }
    }
    told += &write(format!("compare.{frame:04}.png"), &found.picture)?;
    if let Some(apart) = &found.apart {
        told += &write(format!("compare-distance.{frame:04}.png"), apart)?;
    }
    Ok(print(&told))
}
