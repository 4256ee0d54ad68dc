//! Layers as crates: what is written comes back, what Pixar's library wrote is read, and what can not be written is refused.

use crate::usd_layers::every_type;
use std::path::Path;
use undine_io::usd::layer::{Array, Attribute, Layer, ListItem, ListOp, Prim, Relationship, Value};
use undine_io::usd::{binary, text};

fn parse(bytes: &[u8]) -> Layer {
    binary::parse(bytes, Path::new("test.usdc")).unwrap()
}

fn corpus(name: &str) -> Vec<u8> {
    std::fs::read(Path::new("tests/corpus/usdc").join(name)).unwrap()
}

/// The text that a crate of the corpus was made from.
fn text_of(name: &str) -> Layer {
    text::parse(&corpus(name), Path::new(name)).unwrap()
}

/// A layer of one prim with one attribute.
fn layer_with(attribute: Attribute) -> Layer {
    let prim = Prim { name: "A".into(), attributes: vec![attribute], ..Prim::default() };
    Layer { prims: vec![prim], ..Layer::default() }
}

fn attribute(type_name: &str, value: Value) -> Attribute {
    Attribute {
        name: "a".into(),
        type_name: type_name.into(),
        default: Some(value),
        ..Attribute::default()
    }
}

#[test]
fn every_type_comes_back() {
    let layer = every_type();
    let bytes = binary::encode(&layer).unwrap();
    assert_eq!(&bytes[..11], b"PXR-USDC\x00\x09\x00", "time codes need version 0.9");
    assert_eq!(parse(&bytes), layer);
    assert_eq!(binary::encode(&layer).unwrap(), bytes, "the bytes follow from the layer");
}

#[test]
fn an_empty_layer_comes_back() {
    let bytes = binary::encode(&Layer::default()).unwrap();
    assert_eq!(&bytes[8..11], [0, 8, 0]);
    assert_eq!(parse(&bytes), Layer::default());
}

#[test]
fn pixars_crates_of_every_version_say_what_their_text_says() {
    let mut said = text_of("all.usda");
    said.passed_over.clear();
    for version in ["0.0.1", "0.1.0", "0.4.0", "0.5.0", "0.6.0", "0.8.0"] {
        let mut read = parse(&corpus(&format!("all-{version}.usdc")));
        read.passed_over.clear();
        assert_eq!(read, said, "version {version}");
    }
}

#[test]
fn what_a_layer_has_no_place_for_is_named() {
    let read = parse(&corpus("new-0.12.0.usdc"));
    assert_eq!(
        read.passed_over,
        [
            "/Model: variants",
            "/Model.wired: connections",
            "spline of /Model.curve: a value of kind Spline"
        ]
    );
    let model = read.prim("/Model").unwrap();
    assert_eq!(model.attribute("wired").unwrap().default, Some(Value::Float(1.0)));
    assert_eq!(model.attribute("shutter").unwrap().default, Some(Value::Double(12.5)));
    assert_eq!(
        model.attribute("shutters").unwrap().default,
        Some(Value::Array(Array::Double(vec![1.0, 2.5], 1)))
    );
    assert_eq!(model.attribute("found").unwrap().default, Some(Value::String("/World//*".into())));
    assert_eq!(model.relationships[0].targets, ["/Model/Points", "/Model/More"]);
    let reference = |asset: &str, prim: &str, offset| ListItem::Reference {
        asset: asset.into(),
        prim: prim.into(),
        offset,
        scale: 1.0,
    };
    let payload = vec![reference("./p.usdc", "/P", 3.0), reference("./q.usdc", "", 0.0)];
    let payload = ListOp { appended: payload, ..ListOp::default() };
    assert_eq!(model.fields["payload"], Value::List(payload));
    let inherits = ListOp { deleted: vec![ListItem::Path("/Other".into())], ..ListOp::default() };
    assert_eq!(model.fields["inheritPaths"], Value::List(inherits));
}

#[test]
fn equal_arrays_are_stored_once() {
    let points: Vec<f32> = (0..30_000).map(|i| i as f32 * 0.1).collect();
    let mut moving = attribute("point3f[]", Value::Array(Array::Float(points.clone(), 3)));
    let once = binary::encode(&layer_with(moving.clone())).unwrap().len();
    moving.samples =
        (0..10).map(|i| (f64::from(i), Value::Array(Array::Float(points.clone(), 3)))).collect();
    let layer = layer_with(moving);
    let bytes = binary::encode(&layer).unwrap();
    assert!(bytes.len() < once + 1000, "{} and {once}", bytes.len());
    assert_eq!(parse(&bytes), layer);

    // Arrays that differ in one number, wherever it is, are two.
    for place in [0, 1, 14_999, 29_998, 29_999] {
        let mut other = points.clone();
        other[place] = -1.0;
        let mut two = attribute("point3f[]", Value::Array(Array::Float(points.clone(), 3)));
        two.samples = vec![(0.0, Value::Array(Array::Float(other, 3)))];
        let layer = layer_with(two);
        assert_eq!(parse(&binary::encode(&layer).unwrap()), layer);
    }
}

#[test]
fn an_array_of_few_different_numbers_is_small() {
    let radii: Vec<f32> = (0..100_000).map(|i| if i % 1000 == 0 { 0.2 } else { 0.1 }).collect();
    let layer = layer_with(attribute("float[]", Value::Array(Array::Float(radii, 1))));
    let bytes = binary::encode(&layer).unwrap();
    assert!(bytes.len() < 3000, "{}", bytes.len());
    assert_eq!(parse(&bytes), layer);
}

#[test]
fn plain_arrays_lie_at_multiples_of_eight() {
    let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
    let layer = layer_with(attribute("double[]", Value::Array(Array::Double(numbers.clone(), 1))));
    let bytes = binary::encode(&layer).unwrap();
    let sought: &[u8] = &numbers[1].to_le_bytes();
    let place = bytes.windows(8).position(|window| window == sought).unwrap();
    assert_eq!(place % 8, 0, "programs use them where they are");
}

#[test]
fn a_property_and_a_prim_may_have_one_name() {
    let mut layer = layer_with(attribute("int", Value::Int(1)));
    layer.prims[0].children = vec![Prim { name: "a".into(), ..Prim::default() }];
    layer.prims[0].relationships =
        vec![Relationship { name: "r".into(), targets: vec!["/A/a".into(), "/A.a".into()] }];
    assert_eq!(parse(&binary::encode(&layer).unwrap()), layer);
}

#[test]
fn what_no_crate_can_hold_is_refused() {
    let refused = |layer: &Layer| binary::encode(layer).unwrap_err().to_string();
    let named = |names: &[&str]| {
        let prim = |name: &&str| Prim { name: (*name).into(), ..Prim::default() };
        Layer { prims: names.iter().map(prim).collect(), ..Layer::default() }
    };
    assert!(refused(&named(&["A", "B", "A"])).contains("two of this name"));
    for name in ["", "1", "a b", "a/b", "a.b", "a:b"] {
        assert!(refused(&named(&[name])).contains("that is no name"), "{name}");
    }
    for (type_name, value, word) in [
        ("float", Value::Int(1), "of kind Float"),
        ("point3f[]", Value::Array(Array::Float(vec![1.0; 4], 3)), "of kind Vec3f"),
        ("point3f[]", Value::Array(Array::Float(vec![1.0; 4], 2)), "of kind Vec3f"),
        ("point3f[]", Value::Array(Array::Double(vec![], 3)), "of kind Vec3f"),
        ("quatf", Value::FloatVec(vec![1.0; 3]), "of kind Quatf"),
        ("strange", Value::FloatVec(vec![1.0; 5]), "no type has so many components"),
        ("strange", Value::Array(Array::Float(vec![], 0)), "no type has so many components"),
        ("string", Value::String("a\0b".into()), "a zero ends a text"),
    ] {
        let found = refused(&layer_with(attribute(type_name, value)));
        assert!(found.contains(word), "{type_name}: {found}");
    }
    let mut samples = attribute("int", Value::Int(1));
    for times in [[1.0, 1.0], [2.0, 1.0], [f64::NAN, 1.0]] {
        samples.samples = times.map(|time| (time, Value::Int(1))).into();
        assert!(refused(&layer_with(samples.clone())).contains("times ascend"), "{times:?}");
    }
    for target in ["", "A", "../A", "/A/", "//A", "/A.b.c", "/A[/b]"] {
        let mut layer = layer_with(attribute("int", Value::Int(1)));
        layer.prims[0].relationships =
            vec![Relationship { name: "r".into(), targets: vec![target.into()] }];
        assert!(refused(&layer).contains("no path of a prim"), "{target}");
    }
    let mut deep = Prim { name: "a".into(), ..Prim::default() };
    for _ in 0..256 {
        deep = Prim { name: "a".into(), children: vec![deep], ..Prim::default() };
    }
    assert!(refused(&Layer { prims: vec![deep], ..Layer::default() }).contains("nested less"));
    let mut deep = Value::Int(1);
    for _ in 0..70 {
        deep = Value::Dictionary([("a".to_owned(), deep)].into());
    }
    let fields = [("customLayerData".to_owned(), deep)].into();
    assert!(refused(&Layer { fields, ..Layer::default() }).contains("nested less"));
}
