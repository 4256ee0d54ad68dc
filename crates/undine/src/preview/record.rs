//! What a run's views were, kept beside its pictures, so that `undine render` draws a cache as its scene does.

use serde_json::{Map, Value as Json, json};
use std::path::Path;
use undine_io::UpAxis;
use undine_scene::{RENDER, Render, Scene};
use undine_schema::setup::Settings;
use undine_schema::{Interpolation, Key, Keys, Setting, Type, Value};

/// The views of a run, and what else a picture needs to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Frames per second.
    pub fps: f64,
    /// From a frame to the next, simulated [s].
    pub frame_time: f64,
    /// The first frame.
    pub first: i64,
    /// Which way is up in the scene.
    pub up: UpAxis,
    /// The views.
    pub views: Vec<View>,
}

/// A view, by its name and what was set for it.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What was set.
    pub set: Settings,
}

/// A record longer than this is none of ours [bytes].
const LONGEST: u64 = 16 << 20;

impl Record {
    /// The file's name.
    pub const FILE: &str = "render.json";

    /// Of a scene.
    pub fn of(scene: &Scene, frame_time: f64) -> Self {
        let view = |render: &Render| View { name: render.name.clone(), set: render.set.clone() };
        let settings = &scene.settings;
        Self {
            fps: settings.fps,
            frame_time,
            first: settings.first,
            up: settings.up,
            views: scene.renders.iter().map(view).collect(),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let views = self.views.iter().map(|view| {
            let set: Map<String, Json> = view
                .set
                .iter()
                .map(|(name, setting)| (name.clone(), of_setting(setting)))
                .collect();
            json!({ "name": view.name, "set": set })
        });
        let up = if self.up == UpAxis::Z { "z" } else { "y" };
        let record = json!({
            "fps": self.fps,
            "frame_time": self.frame_time,
            "first": self.first,
            "up": up,
            "views": views.collect::<Vec<_>>(),
        });
        format!("{record:#}\n").into_bytes()
    }

    /// The one beside a cache's pictures; nothing, if there is none that can be read.
    pub fn read(cache: &Path) -> Option<Self> {
        let path = cache.join(super::FOLDER).join(Self::FILE);
        if std::fs::metadata(&path).ok()?.len() > LONGEST {
            return None;
        }
        Self::parse(&std::fs::read(path).ok()?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let json: Json = serde_json::from_slice(bytes).ok()?;
        let positive = |name: &str| json[name].as_f64().filter(|n| n.is_finite() && *n > 0.0);
        let view = |view: &Json| {
            let mut set = Settings::new();
            for (name, value) in view["set"].as_object()? {
                set.insert(name.clone(), setting(name, value)?);
            }
            Some(View { name: view["name"].as_str()?.to_owned(), set })
        };
        Some(Self {
            fps: positive("fps")?,
            frame_time: positive("frame_time")?,
            first: json["first"].as_i64()?,
            up: UpAxis::of_word(json["up"].as_str()?)?,
            views: json["views"].as_array()?.iter().map(view).collect::<Option<_>>()?,
        })
    }
}

fn of_setting(setting: &Setting) -> Json {
    match setting {
        Setting::Constant(value) => of_value(value),
        Setting::Keyed(keys) => {
            let word = Interpolation::WORDS.iter().find(|(_, way)| *way == keys.interpolation());
            let each: Vec<Json> =
                keys.keys().iter().map(|key| json!([key.time, of_value(&key.value)])).collect();
            json!({ "interpolation": word.map_or("linear", |(word, _)| word), "keys": each })
        }
    }
}

fn of_value(value: &Value) -> Json {
    match value {
        Value::Number(number) => json!(number),
        Value::Vector(vector) => json!(vector),
        Value::Integer(whole) => json!(whole),
        Value::Flag(flag) => json!(flag),
        Value::Text(text) => json!(text),
    }
}

fn setting(name: &str, json: &Json) -> Option<Setting> {
    let takes = RENDER.parameter(name)?.takes;
    let Some(each) = json.get("keys") else { return Some(Setting::Constant(value(takes, json)?)) };
    let word = json["interpolation"].as_str()?;
    let (_, way) = Interpolation::WORDS.iter().find(|(known, _)| *known == word)?;
    let key = |key: &Json| {
        let [time, held] = key.as_array()?.as_slice() else { return None };
        Some(Key { time: time.as_f64()?, value: value(takes, held)? })
    };
    let keys = each.as_array()?.iter().map(key).collect::<Option<Vec<_>>>()?;
    Keys::new(keys, *way).ok().map(Setting::Keyed)
}

fn value(takes: Type, json: &Json) -> Option<Value> {
    Some(match takes {
        Type::Number(_) => Value::Number(json.as_f64()?),
        Type::Vector(_) => {
            let [x, y, z] = json.as_array()?.as_slice() else { return None };
            Value::Vector([x.as_f64()?, y.as_f64()?, z.as_f64()?])
        }
        Type::Integer => Value::Integer(json.as_i64()?),
        Type::Flag => Value::Flag(json.as_bool()?),
        _ => Value::Text(json.as_str()?.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let key = |time, x| Key { time, value: Value::Vector([x, 0.1, 1e-9]) };
        let keys = Keys::new(vec![key(0.0, 1.0), key(0.1, 2.0)], Interpolation::Cubic).unwrap();
        let set = Settings::from([
            ("eye".to_owned(), Setting::Keyed(keys)),
            ("fov".to_owned(), Setting::Constant(Value::Number(0.7))),
            ("every".to_owned(), Setting::Constant(Value::Integer(2))),
            ("legend".to_owned(), Setting::Constant(Value::Flag(false))),
            ("size".to_owned(), Setting::Constant(Value::Text("320x180".to_owned()))),
        ]);
        let views = vec![View { name: "side".to_owned(), set }];
        let record = Record { fps: 24.0, frame_time: 1.0 / 24.0, first: -5, up: UpAxis::Z, views };
        assert_eq!(Record::parse(&record.to_bytes()), Some(record));
    }

    #[test]
    fn what_is_no_record_is_none() {
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"fps": -1}"#,
            r#"{"fps":24,"frame_time":1,"first":1,"up":"y","views":[{"name":"a","set":{"size":5}}]}"#,
        ] {
            assert_eq!(Record::parse(text.as_bytes()), None, "{text}");
        }
    }
}
