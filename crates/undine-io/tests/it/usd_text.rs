//! Layers as text: what other programs write is understood, what is written comes back, and nothing else does harm.

use proptest::prelude::*;
use std::path::Path;
use undine_io::usd::layer::{
    Array, Attribute, Fields, Layer, ListItem, ListOp, Prim, Relationship, Specifier, Value,
};
use undine_io::usd::text;

fn parse(source: &str) -> Layer {
    text::parse(source.as_bytes(), Path::new("test.usda")).unwrap()
}

fn refusal(source: &str) -> String {
    text::parse(source.as_bytes(), Path::new("bad.usda")).unwrap_err().to_string()
}

/// Something of everything that the grammar has.
const EVERYTHING: &str = r#"#usda 1.0
(
    "of everything"
    defaultPrim = "A"
    doc = """several
lines"""
    metersPerUnit = 0.01
    upAxis = "Z"
    customLayerData = {
        string a = "x"
        dictionary b = {
            int[] c = [1, 2]
            double2[] d = [(0, 1), (2, 3.5)]
        }
        bool "two words" = 1
    }
    subLayers = [
        @a.usda@ (offset = 10; scale = 2),
        @@@b@.usda@@@
    ]
)

def Xform "A" (
    prepend references = [@b.usda@</X> (offset = 2), </Y>]
    delete apiSchemas = ["x"]
    add apiSchemas = "y"
    inherits = </_c>
    payload = None
    active = true
    kind = "component"
    permission = private
    variants = { string v = "a" }
    prepend variantSets = "v"
    relocates = { <a>: <b>, }
    whatever = [1, (2, 3)]
)
{
    custom float[] x:y = [1, inf, nan, -inf, 0.1, 1e-30, 123456789, ] (
        interpolation = "vertex" # a comment
        elementSize = 1
        doc = 'it"s'
    )
    float a.connect = </A.b>
    rel foo = [</A/b>, </A.b>]
    prepend rel bar = </A> /* another
    comment */
    double3 t.timeSamples = {
        2.5: None,
        1: (1, 2, 3)
    }
    double3 t = (0, 0, 0)
    string s2 = "it's \"q\" \n\x41\102\\"
    string s3 = '''one ' and '' of them'''
    asset q = @a b@
    matrix4d m = ((1, 2, 3, 4), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    quatf q2 = (1, 2, 3, 4)
    quath[] q3 = [(1, 0, 0, 0)]
    uniform token[] xformOpOrder = ["a", "!invert!b"]
    reorder properties = ["a"]
    variantSet "v" = {
        "a" (kind = "x") { int z = 1; def "inner" { string s = "}" } }
        "b" { }
    }
    half3[] h = []
    int64 big = -9223372036854775808
    uint64 bigger = 18446744073709551615
    bool yes = true
    Strange strange = { 1: <a{v=b}> }
    int undeclared

    class "B" { }
    over "C" { } // the end of a line
    reorder nameChildren = ["C", "B"]
}

reorder rootPrims = ["A"]
"#;

#[test]
fn the_whole_grammar_is_understood() {
    let layer = parse(EVERYTHING);
    assert_eq!(layer.fields["comment"], Value::String("of everything".into()));
    assert_eq!(layer.fields["documentation"], Value::String("several\nlines".into()));
    assert_eq!(layer.fields["upAxis"], Value::Token("Z".into()));
    let files = vec!["a.usda".to_owned(), "b@.usda".to_owned()];
    assert_eq!(layer.fields["subLayers"], Value::Array(Array::Asset(files)));
    let offsets = Value::Array(Array::Double(vec![10.0, 2.0, 0.0, 1.0], 2));
    assert_eq!(layer.fields["subLayerOffsets"], offsets);
    let Value::Dictionary(data) = &layer.fields["customLayerData"] else { panic!() };
    assert_eq!(data["two words"], Value::Bool(true));

    let prim = layer.prim("/A").unwrap();
    let reference = |asset: &str, prim: &str, offset| ListItem::Reference {
        asset: asset.into(),
        prim: prim.into(),
        offset,
        scale: 1.0,
    };
    let references = ListOp {
        prepended: vec![reference("b.usda", "/X", 2.0), reference("", "/Y", 0.0)],
        ..ListOp::default()
    };
    assert_eq!(prim.fields["references"], Value::List(references));
    let schemas = ListOp {
        deleted: vec![ListItem::Word("x".into())],
        appended: vec![ListItem::Word("y".into())],
        ..ListOp::default()
    };
    assert_eq!(prim.fields["apiSchemas"], Value::List(schemas));
    let none = ListOp { explicit: Some(Vec::new()), ..ListOp::default() };
    assert_eq!(prim.fields["payload"], Value::List(none));
    assert_eq!(prim.fields["permission"], Value::Token("private".into()));

    let value = |name: &str| prim.attribute(name).unwrap().default.clone().unwrap();
    let Value::Array(Array::Float(x, 1)) = value("x:y") else { panic!() };
    assert!(x[1] == f32::INFINITY && x[2].is_nan() && x[4] == 0.1 && x.len() == 7);
    assert!(prim.attribute("x:y").unwrap().custom);
    assert_eq!(prim.attribute("x:y").unwrap().fields["elementSize"], Value::Int(1));
    assert_eq!(value("s2"), Value::String("it's \"q\" \nAB\\".into()));
    assert_eq!(value("s3"), Value::String("one ' and '' of them".into()));
    // The real part stands first in the text and last in memory.
    assert_eq!(value("q2"), Value::FloatVec(vec![2.0, 3.0, 4.0, 1.0]));
    assert_eq!(value("big"), Value::Int64(i64::MIN));
    assert_eq!(value("h"), Value::Array(Array::Half(vec![], 3)));
    let t = prim.attribute("t").unwrap();
    assert_eq!(t.default, Some(Value::DoubleVec(vec![0.0; 3])));
    let samples = [(1.0, Value::DoubleVec(vec![1.0, 2.0, 3.0])), (2.5, Value::Block)];
    assert_eq!(t.samples, samples);
    assert_eq!(prim.attribute("undeclared").unwrap().default, None);
    assert_eq!(prim.relationships[0].targets, ["/A/b", "/A.b"]);
    assert_eq!(prim.children[1].specifier, Specifier::Over);
    for word in ["variant set `v` of prim `A`", "relocates", "whatever", "`strange`"] {
        assert!(layer.passed_over.iter().any(|note| note.contains(word)), "{word}");
    }
    assert!(layer.passed_over[2].starts_with("line 60: "), "{:?}", layer.passed_over);
}

#[test]
fn what_is_written_and_read_is_written_again_the_same() {
    let mut layer = parse(EVERYTHING);
    // What has no place in the model, and what equals nothing, cannot be compared.
    let prim = &mut layer.prims[0];
    prim.attributes.retain(|attribute| !["x:y", "strange"].contains(&attribute.name.as_str()));
    layer.passed_over.clear();
    let once = text::write(&layer).unwrap();
    let again = parse(&once);
    assert_eq!(again, layer);
    assert_eq!(text::write(&again).unwrap(), once);
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    for (source, words) in [
        ("", "line 1: it begins with ``; a layer begins with `#usda 1.0`"),
        ("PXR-USDC", "line 1: it begins with `PXR-USDC`"),
        ("#usda 1.0\n\ndef", "line 3: the file ends; expected a string in quotes"),
        ("#usda 1.0\nfoo", "line 2: `foo` stands here; expected `def`"),
        ("#usda 1.0\ndef \"A\"\n{\n  float x = yes\n}", "line 4: `yes` is no such number"),
        ("#usda 1.0\ndef \"A\" { int x = 1e3 }", "whole number of 32 bits"),
        ("#usda 1.0\ndef \"A\" { uint x = -1 }", "from 0 on"),
        ("#usda 1.0\ndef \"A\" { float3 x = (1, 2) }", "between the numbers of a tuple"),
        ("#usda 1.0\ndef \"A\" { float2 x = (1, 2, 3) }", "behind a tuple of 2"),
        ("#usda 1.0\ndef \"A\" { string x = \"a\n\" }", "a string has no end on its line"),
        ("#usda 1.0\n\ndef \"A\" { string x = \"\"\"a\n\" }", "line 3: a string begins here"),
        ("#usda 1.0\ndef \"A\" { asset x = @a\n@ }", "the path of a file has no end"),
        ("#usda 1.0\ndef \"A\" { rel x = <a\n> }", "a path has no end"),
        ("#usda 1.0\ndef \"A/B\" { }", "is no name of a prim"),
        ("#usda 1.0\ndef \"A\" { } def \"A\" { }", "two prims `A`"),
        ("#usda 1.0\n( a", "expected `=`"),
        ("#usda 1.0\n( = 3 )", "expected the name of a field"),
        ("#usda 1.0\ndef \"A\" { float x.timeSamples = { inf: 1 } }", "is no time"),
        ("#usda 1.0\ndef \"A\" { ] }", "expected the name of a type"),
        ("#usda 1.0\ndef \"A\" { float }", "expected the name of a property"),
    ] {
        let refused = refusal(source);
        assert!(refused.contains(words) && refused.contains("bad.usda"), "{source}\n{refused}");
    }
}

#[test]
fn no_depth_is_too_deep() {
    for (open, close) in [("def \"A\" { ", "}"), ("def \"A\" (a = {dictionary b = ", "")] {
        for depth in [1_000, 100_000] {
            let source = format!("#usda 1.0\n{}{}", open.repeat(depth), close.repeat(depth));
            refusal(&source);
        }
    }
    let inner = "dictionary b = {".repeat(100_000);
    assert!(refusal(&format!("#usda 1.0\n( a = {{ {inner}")).contains("128 times"));
    // What is passed over takes no stack, however deep it is.
    let brackets = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(parse(&format!("#usda 1.0\n( a = {brackets} )")).passed_over.len(), 1);
}

#[test]
fn names_and_values_that_no_file_can_hold_are_not_written() {
    let with = |prim: Prim| Layer { prims: vec![prim], ..Layer::default() };
    let attribute = |name: &str, kind: &str, value: Value| {
        let attribute = Attribute {
            name: name.into(),
            type_name: kind.into(),
            default: Some(value),
            ..Attribute::default()
        };
        with(Prim { name: "A".into(), attributes: vec![attribute], ..Prim::default() })
    };
    for (layer, word) in [
        (with(Prim { name: "two words".into(), ..Prim::default() }), "prim `two words`"),
        (with(Prim { name: "1st".into(), ..Prim::default() }), "no digit at the beginning"),
        (attribute("a::b", "int", Value::Int(1)), "attribute `a::b`"),
        (attribute("a", "int", Value::Float(1.0)), "no `int`"),
        (attribute("a", "strange", Value::Int(1)), "no type of values"),
        (attribute("a", "asset", Value::Asset("a\nb".into())), "path"),
        (attribute("a", "float3[]", Value::Array(Array::Float(vec![0.0; 4], 3))), "elements of 3"),
    ] {
        let refused = text::write(&layer).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
}

proptest! {
    #[test]
    fn numbers_and_strings_come_back_to_the_bit(
        bits: Vec<u32>, wide: Vec<u64>, words: Vec<String>, key: String, quaternion: [f64; 4],
    ) {
        let floats: Vec<f32> =
            bits.iter().map(|&bits| f32::from_bits(bits)).filter(|x| !x.is_nan()).collect();
        let doubles: Vec<f64> =
            wide.iter().map(|&bits| f64::from_bits(bits)).filter(|x| !x.is_nan()).collect();
        let attribute = |name: &str, kind: &str, value: Value| Attribute {
            name: name.into(),
            type_name: kind.into(),
            samples: vec![(-0.1, Value::Block), (1e300, value)],
            ..Attribute::default()
        };
        let attributes = vec![
            attribute("f", "float[]", Value::Array(Array::Float(floats.clone(), 1))),
            attribute("d", "double[]", Value::Array(Array::Double(doubles, 1))),
            attribute("u", "uint64[]", Value::Array(Array::UInt64(wide))),
            attribute("s", "string[]", Value::Array(Array::String(words))),
            attribute("q", "quatd", Value::DoubleVec(quaternion.to_vec())),
        ];
        let relationships = vec![Relationship { name: "r".into(), targets: vec!["/a.b".into()] }];
        let fields =
            Fields::from([("x".into(), Value::Dictionary(Fields::from([(key, Value::Int(-1))])))]);
        let prim = Prim { name: "_".into(), fields, attributes, relationships, ..Prim::default() };
        let layer = Layer { prims: vec![prim], ..Layer::default() };
        let again = parse(&text::write(&layer).unwrap());
        prop_assert_eq!(&again, &layer);
        let Some((_, Value::Array(Array::Float(read, 1)))) = again.prims[0].attributes[0].samples.last()
        else { panic!() };
        prop_assert!(read.iter().zip(&floats).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn no_change_of_a_text_is_too_strange(places in prop::collection::vec((0_usize..4000, 0_u8..=255, 0_usize..20), 1..8)) {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        for (place, byte, taken) in places {
            let place = place % bytes.len();
            let end = (place + taken).min(bytes.len());
            // Mostly characters that mean something.
            let put = if byte < 128 { b"()[]{}<>@\"'\\=:,.;#/\n 0-"[usize::from(byte) % 23] } else { byte };
            bytes.splice(place..end, [put]);
        }
        let _ = text::parse(&bytes, Path::new("strange.usda"));
    }
}

#[test]
fn every_cut_ends_in_an_error_or_a_shorter_scene() {
    for end in 0..EVERYTHING.len() {
        let _ = text::parse(&EVERYTHING.as_bytes()[..end], Path::new("cut.usda"));
    }
}
