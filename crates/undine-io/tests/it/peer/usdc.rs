//! Crates in Pixar's USD: what we write, it reads to the bit, and the other way round.

use crate::usd_layers::every_type;
use std::path::{Path, PathBuf};
use undine_io::usd::layer::{Array, Attribute, Layer, Prim, Value};
use undine_io::usd::{binary, text};

fn ask(words: &[&Path]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/usdc.py");
    peers::python(script, words.iter().copied())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn written(folder: &tempfile::TempDir, name: &str, layer: &Layer) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, binary::encode(layer).unwrap()).unwrap();
    path
}

fn read(path: &Path) -> Layer {
    binary::parse(&std::fs::read(path).unwrap(), path).unwrap()
}

/// The numbers and texts of a value, as the script prints them.
fn flat(value: &Value) -> Vec<String> {
    fn all<T: ToString>(values: &[T]) -> Vec<String> {
        values.iter().map(T::to_string).collect()
    }
    fn bits<T: Copy + Into<f64>>(values: &[T]) -> Vec<String> {
        values.iter().map(|&value| format!("{:016x}", value.into().to_bits())).collect()
    }
    fn texts(texts: &[String]) -> Vec<String> {
        let hex = |text: &String| text.bytes().map(|byte| format!("{byte:02x}")).collect();
        texts.iter().map(hex).collect()
    }
    match value {
        Value::Block => vec!["block".into()],
        &Value::Bool(value) => all(&[u8::from(value)]),
        &Value::UChar(value) => all(&[value]),
        &Value::Int(value) => all(&[value]),
        &Value::UInt(value) => all(&[value]),
        &Value::Int64(value) => all(&[value]),
        &Value::UInt64(value) => all(&[value]),
        &Value::Half(value) | &Value::Float(value) => bits(&[value]),
        &Value::Double(value) => bits(&[value]),
        Value::String(text) | Value::Token(text) | Value::Asset(text) => {
            texts(std::slice::from_ref(text))
        }
        Value::IntVec(values) | Value::Array(Array::Int(values, _)) => all(values),
        Value::HalfVec(values)
        | Value::FloatVec(values)
        | Value::Array(Array::Half(values, _) | Array::Float(values, _)) => bits(values),
        Value::DoubleVec(values) | Value::Array(Array::Double(values, _)) => bits(values),
        Value::Array(Array::Bool(values)) => {
            values.iter().map(|&v| u8::from(v).to_string()).collect()
        }
        Value::Array(Array::UChar(values)) => all(values),
        Value::Array(Array::UInt(values)) => all(values),
        Value::Array(Array::Int64(values)) => all(values),
        Value::Array(Array::UInt64(values)) => all(values),
        Value::Array(Array::String(values) | Array::Token(values) | Array::Asset(values)) => {
            texts(values)
        }
        Value::Dictionary(_) | Value::List(_) => panic!("no value of an attribute"),
    }
}

fn lines(prim: &Prim, above: &str, lines: &mut Vec<String>) {
    let path = format!("{above}/{}", prim.name);
    for attribute in &prim.attributes {
        let Attribute { name, type_name, uniform, custom, .. } = attribute;
        let mut words =
            vec![format!("{path}.{name} {type_name} {} {}", u8::from(*uniform), u8::from(*custom))];
        if let Some(value) = &attribute.default {
            words.push("=".into());
            words.extend(flat(value));
        }
        for (time, value) in &attribute.samples {
            words.push("@".into());
            words.extend(flat(&Value::Double(*time)));
            words.extend(flat(value));
        }
        lines.push(words.join(" "));
    }
    prim.children.iter().for_each(|child| self::lines(child, &path, lines));
}

#[test]
fn pixar_reads_every_value_that_we_write_to_the_bit() {
    let folder = folder();
    let layer = every_type();
    let path = written(&folder, "every.usdc", &layer);
    let said = ask(&["values".as_ref(), &path]);
    let mut expected = Vec::new();
    layer.prims.iter().for_each(|prim| lines(prim, "", &mut expected));
    for (found, expected) in said.lines().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(said.lines().count(), expected.len());
}

#[test]
fn our_crate_and_our_text_say_the_same_to_pixar() {
    let folder = folder();
    let layer = every_type();
    let crate_ = written(&folder, "every.usdc", &layer);
    let text_ = folder.path().join("every.usda");
    std::fs::write(&text_, text::write(&layer).unwrap()).unwrap();
    ask(&["same".as_ref(), &text_, &crate_]);
}

#[test]
fn we_read_every_value_that_pixar_writes() {
    let folder = folder();
    let layer = every_type();
    let ours = written(&folder, "ours.usdc", &layer);
    let theirs = folder.path().join("theirs.usdc");
    ask(&["rewrite".as_ref(), &ours, &theirs]);
    assert_eq!(read(&theirs), layer);
}

#[test]
fn what_pixar_wrote_and_we_wrote_again_is_the_same_to_pixar() {
    let folder = folder();
    // Older ones than 0.4 it does not read any more.
    for version in ["0.4.0", "0.5.0", "0.6.0", "0.8.0"] {
        let theirs = Path::new("tests/corpus/usdc").join(format!("all-{version}.usdc"));
        let mut layer = read(&theirs);
        layer.passed_over.clear();
        let ours = written(&folder, &format!("{version}.usdc"), &layer);
        ask(&["same".as_ref(), &theirs, &ours]);
    }
}

#[test]
fn a_stage_of_ours_opens_without_a_warning() {
    let folder = folder();
    let mut layer = every_type();
    // What it refers to is not there.
    layer.fields.remove("subLayers");
    layer.fields.remove("subLayerOffsets");
    for field in ["references", "payload", "clips"] {
        layer.prims[0].fields.remove(field);
    }
    let path = written(&folder, "stage.usdc", &layer);
    let said = ask(&["stage".as_ref(), &path]);
    let paths: Vec<&str> = said.lines().collect();
    assert_eq!(paths, ["/World", "/World/Child", "/World/Child/Leaf", "/World/Second", "/Pattern"]);
}

/// Integers of every shape, which are what the two pack in the same way.
#[test]
fn long_lists_of_integers_agree() {
    let hash = |i: i64| i.wrapping_mul(0x2545_F491_4F6C_DD1D).rotate_left(29);
    let attribute = |name: &str, type_name: &str, array: Array| Attribute {
        name: name.into(),
        type_name: type_name.into(),
        default: Some(Value::Array(array)),
        ..Attribute::default()
    };
    let count = 100_000;
    let wild: Vec<i64> = (0..count).map(|i| hash(i) >> (hash(i + 7) & 63)).collect();
    let narrow: Vec<i32> = wild.iter().map(|&i| (i >> 32) as i32).collect();
    let steps: Vec<i32> = (0..count as i32).map(|i| 2 * i + (i % 1000 == 0) as i32).collect();
    let layer = Layer {
        prims: vec![Prim {
            name: "A".into(),
            attributes: vec![
                attribute("wild", "int64[]", Array::Int64(wild.clone())),
                attribute(
                    "unsigned",
                    "uint64[]",
                    Array::UInt64(wild.iter().map(|&i| i as u64).collect()),
                ),
                attribute("narrow", "int[]", Array::Int(narrow, 1)),
                attribute("steps", "int[]", Array::Int(steps, 1)),
                attribute("same", "uint[]", Array::UInt(vec![4; count as usize])),
            ],
            ..Prim::default()
        }],
        ..Layer::default()
    };
    let folder = folder();
    let ours = written(&folder, "ours.usdc", &layer);
    let theirs = folder.path().join("theirs.usdc");
    ask(&["rewrite".as_ref(), &ours, &theirs]);
    assert_eq!(read(&theirs), layer);
    let length = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(length(&ours) * 100 <= length(&theirs) * 103, "{} bytes", length(&ours));
}
