//! Layers that the tests of USD's formats share.

use std::collections::BTreeMap;
use undine_io::usd::layer::{
    Array, Attribute, Fields, Layer, ListItem, ListOp, Prim, Relationship, Specifier, Value,
};

fn attribute(name: &str, type_name: &str, value: Value) -> Attribute {
    Attribute {
        name: name.into(),
        type_name: type_name.into(),
        default: Some(value),
        ..Attribute::default()
    }
}

pub fn fields(entries: &[(&str, Value)]) -> Fields {
    entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn reference(asset: &str, prim: &str, offset: f64, scale: f64) -> ListItem {
    ListItem::Reference { asset: asset.into(), prim: prim.into(), offset, scale }
}

/// A value of every type, alone and in arrays short and long, inlined and not.
pub fn every_type() -> Layer {
    let floats = |n: usize| -> Vec<f32> { (0..n).map(|i| (i as f32 * 0.37).sin()).collect() };
    let doubles = |n: usize| -> Vec<f64> { (0..n).map(|i| (i as f64 * 0.37).cos()).collect() };
    let halfs = |n: usize| -> Vec<f32> { (0..n).map(|i| i as f32 * 0.25 - 3.0).collect() };
    let int = |i: i32| i.wrapping_mul(i).wrapping_mul(7919) - (i % 3) * 100_000;
    let ints = |n: i32| -> Vec<i32> { (0..n).map(int).collect() };
    let long = |n: i64| -> Vec<i64> { (0..n).map(|i| (i * i * i) << (i % 40)).collect() };

    let mut attributes = vec![
        attribute("b", "bool", Value::Bool(true)),
        attribute("uc", "uchar", Value::UChar(200)),
        attribute("i", "int", Value::Int(-7)),
        attribute("ui", "uint", Value::UInt(4_000_000_000)),
        attribute("l", "int64", Value::Int64(-7)),
        attribute("ll", "int64", Value::Int64(-7_000_000_000)),
        attribute("ul", "uint64", Value::UInt64(7)),
        attribute("ull", "uint64", Value::UInt64(u64::MAX)),
        attribute("h", "half", Value::Half(0.5)),
        attribute("f", "float", Value::Float(0.1)),
        attribute("d", "double", Value::Double(0.1)),
        attribute("ds", "double", Value::Double(-2.5)),
        attribute("dm", "double", Value::Double(-0.0)),
        attribute("tc", "timecode", Value::Double(12.5)),
        attribute("s", "string", Value::String("Grüße \"an\" alle\nzwei".into())),
        attribute("t", "token", Value::Token("catmullClark".into())),
        attribute("a", "asset", Value::Asset("./density.0001.vdb".into())),
        attribute("i2", "int2", Value::IntVec(vec![1, -2])),
        attribute("i3", "int3", Value::IntVec(vec![1, -2, 70_000])),
        attribute("i4", "int4", Value::IntVec(vec![1, -2, 3, 4])),
        attribute("h2", "half2", Value::HalfVec(vec![0.5, -1.0])),
        attribute("h3", "half3", Value::HalfVec(vec![0.5, -1.0, 2.0])),
        attribute("h4", "color4h", Value::HalfVec(vec![1.0, -1.0, 2.0, 3.0])),
        attribute("f2", "texCoord2f", Value::FloatVec(vec![0.25, 3.5])),
        attribute("f3", "point3f", Value::FloatVec(vec![1.0, 2.0, -128.0])),
        attribute("f3m", "vector3f", Value::FloatVec(vec![-0.0, 2.0, 3.0])),
        attribute("f4", "float4", Value::FloatVec(vec![0.25, 3.5, 1.0, 128.0])),
        attribute("d2", "double2", Value::DoubleVec(vec![1.0, 2.0])),
        attribute("d3", "double3", Value::DoubleVec(vec![0.1, 2.0, 3.0])),
        attribute("d4", "double4", Value::DoubleVec(vec![1.0, 2.0, 3.0, 127.0])),
        attribute("qh", "quath", Value::HalfVec(vec![0.0, 0.0, 1.0, 0.5])),
        attribute("qf", "quatf", Value::FloatVec(vec![0.0, 0.0, 0.0, 1.0])),
        attribute("qd", "quatd", Value::DoubleVec(vec![0.1, 0.2, 0.3, 0.9])),
        attribute("m2", "matrix2d", Value::DoubleVec(vec![2.0, 0.0, 0.0, 3.0])),
        attribute("m3", "matrix3d", Value::DoubleVec(doubles(9))),
        attribute("m4", "matrix4d", Value::DoubleVec(doubles(16))),
        attribute("m4d", "matrix4d", {
            let mut identity = vec![0.0; 16];
            (0..4).for_each(|i| identity[5 * i] = i as f64 - 2.0);
            Value::DoubleVec(identity)
        }),
        attribute("block", "float", Value::Block),
    ];
    for (size, n) in [("none", 0), ("few", 5), ("many", 300)] {
        let count = n as usize;
        let mut add = |name: &str, type_name: &str, array: Array| {
            let name = format!("{size}:{name}");
            attributes.push(attribute(&name, type_name, Value::Array(array)));
        };
        add("b", "bool[]", Array::Bool((0..n).map(|i| i % 3 == 0).collect()));
        add("uc", "uchar[]", Array::UChar((0..n).map(|i| (i * 7) as u8).collect()));
        add("i", "int[]", Array::Int(ints(n), 1));
        add("ui", "uint[]", Array::UInt(ints(n).into_iter().map(|i| i as u32).collect()));
        add("l", "int64[]", Array::Int64(long(n.into())));
        add("ul", "uint64[]", Array::UInt64(long(n.into()).iter().map(|&i| !i as u64).collect()));
        add("ids", "int64[]", Array::Int64((0..n.into()).collect()));
        add("h", "half[]", Array::Half(halfs(count), 1));
        add("f", "float[]", Array::Float(floats(count), 1));
        add("whole", "float[]", Array::Float((0..n).map(|i| i as f32).collect(), 1));
        add(
            "some",
            "float[]",
            Array::Float((0..n).map(|i| [0.1, -0.0, 0.3][i as usize % 3]).collect(), 1),
        );
        add(
            "flags",
            "double[]",
            Array::Double((0..n).map(|i| f64::from(i % 2) * 0.1).collect(), 1),
        );
        add("d", "double[]", Array::Double(doubles(count), 1));
        add("tc", "timecode[]", Array::Double(doubles(count), 1));
        add("s", "string[]", Array::String((0..n).map(|i| format!("text {}", i % 7)).collect()));
        add("t", "token[]", Array::Token((0..n).map(|i| format!("word{}", i % 7)).collect()));
        add("a", "asset[]", Array::Asset((0..n).map(|i| format!("./c.{i:04}.usdc")).collect()));
        add("i2", "int2[]", Array::Int(ints(2 * n), 2));
        add("i3", "int3[]", Array::Int(ints(3 * n), 3));
        add("i4", "int4[]", Array::Int(ints(4 * n), 4));
        add("h2", "texCoord2h[]", Array::Half(halfs(2 * count), 2));
        add("h3", "half3[]", Array::Half(halfs(3 * count), 3));
        add("h4", "half4[]", Array::Half(halfs(4 * count), 4));
        add("f2", "texCoord2f[]", Array::Float(floats(2 * count), 2));
        add("f3", "point3f[]", Array::Float(floats(3 * count), 3));
        add("f4", "color4f[]", Array::Float(floats(4 * count), 4));
        add("d2", "double2[]", Array::Double(doubles(2 * count), 2));
        add("d3", "vector3d[]", Array::Double(doubles(3 * count), 3));
        add("d4", "double4[]", Array::Double(doubles(4 * count), 4));
        add("qh", "quath[]", Array::Half(halfs(4 * count), 4));
        add("qf", "quatf[]", Array::Float(floats(4 * count), 4));
        add("qd", "quatd[]", Array::Double(doubles(4 * count), 4));
        add("m2", "matrix2d[]", Array::Double(doubles(4 * count), 4));
        add("m3", "matrix3d[]", Array::Double(doubles(9 * count), 9));
        add("m4", "matrix4d[]", Array::Double(doubles(16 * count), 16));
    }
    attributes[2].uniform = true;
    attributes[3].custom = true;
    attributes[9].fields = fields(&[
        ("interpolation", Value::Token("vertex".into())),
        ("elementSize", Value::Int(3)),
        ("customData", Value::Dictionary(fields(&[("unit", Value::String("m/s".into()))]))),
        ("documentation", Value::String("How fast".into())),
    ]);
    attributes.push(Attribute {
        name: "xformOp:translate".into(),
        type_name: "double3".into(),
        samples: (1..=5)
            .map(|i| (f64::from(i) * 0.5, Value::DoubleVec(vec![f64::from(i), 0.1, 0.0])))
            .collect(),
        ..Attribute::default()
    });
    attributes.push(Attribute {
        name: "moving".into(),
        type_name: "point3f[]".into(),
        default: Some(Value::Array(Array::Float(floats(6), 3))),
        samples: vec![
            (1.0, Value::Array(Array::Float(floats(9), 3))),
            (2.0, Value::Array(Array::Float(floats(12), 3))),
            (3.0, Value::Block),
            (4.5, Value::Array(Array::Float(vec![], 3))),
        ],
        ..Attribute::default()
    });

    let clips = fields(&[(
        "default",
        Value::Dictionary(fields(&[
            ("active", Value::Array(Array::Double(vec![1.0, 0.0, 2.0, 1.0], 2))),
            ("assetPaths", Value::Array(Array::Asset(words(&["./a.1.usdc", "./a.2.usdc"])))),
            ("manifestAssetPath", Value::Asset("./manifest.usda".into())),
            ("primPath", Value::String("/World".into())),
            ("times", Value::Array(Array::Double(vec![1.0, 1.0, 2.0, 2.0], 2))),
        ])),
    )]);
    let nested = fields(&[
        ("empty", Value::Dictionary(BTreeMap::new())),
        ("number", Value::Double(0.3)),
        ("inner", Value::Dictionary(fields(&[("deep", Value::Int(1)), ("on", Value::Bool(true))]))),
        ("list", Value::Array(Array::Int(vec![1, 2, 3], 1))),
    ]);
    let edit = |prepended: Vec<ListItem>| Value::List(ListOp { prepended, ..ListOp::default() });
    Layer {
        fields: fields(&[
            ("defaultPrim", Value::Token("World".into())),
            ("upAxis", Value::Token("Y".into())),
            ("metersPerUnit", Value::Double(0.01)),
            ("timeCodesPerSecond", Value::Double(24.0)),
            ("startTimeCode", Value::Double(1.0)),
            ("endTimeCode", Value::Double(48.0)),
            ("documentation", Value::String("Written for a test".into())),
            ("customLayerData", Value::Dictionary(nested.clone())),
            ("subLayers", Value::Array(Array::Asset(words(&["./under.usda", "./more.usda"])))),
            ("subLayerOffsets", Value::Array(Array::Double(vec![1.0, 2.0, 0.0, 1.0], 2))),
        ]),
        prims: vec![
            Prim {
                name: "World".into(),
                type_name: "Xform".into(),
                fields: fields(&[
                    ("kind", Value::Token("component".into())),
                    ("active", Value::Bool(true)),
                    ("clips", Value::Dictionary(clips)),
                    ("customData", Value::Dictionary(nested)),
                    ("apiSchemas", edit(vec![ListItem::Word("GeomModelAPI".into())])),
                    ("inheritPaths", edit(vec![ListItem::Path("/Pattern".into())])),
                    (
                        "references",
                        Value::List(ListOp {
                            explicit: Some(vec![
                                reference("./a.usdc", "/A/B", 0.0, 1.0),
                                reference("./b.usdc", "", 10.0, 0.5),
                                reference("", "/Pattern", 0.0, 1.0),
                            ]),
                            ..ListOp::default()
                        }),
                    ),
                    (
                        "payload",
                        Value::List(ListOp {
                            appended: vec![reference("./p.usdc", "/P", 3.0, 1.0)],
                            deleted: vec![reference("./q.usdc", "", 0.0, 1.0)],
                            ..ListOp::default()
                        }),
                    ),
                ]),
                attributes,
                relationships: vec![
                    Relationship {
                        name: "field:density".into(),
                        targets: words(&["/World/Child", "/World.f", "/Elsewhere/Deep.b:c"]),
                    },
                    Relationship { name: "none".into(), targets: vec![] },
                ],
                children: vec![
                    Prim {
                        name: "Child".into(),
                        specifier: Specifier::Over,
                        children: vec![Prim { name: "Leaf".into(), ..Prim::default() }],
                        ..Prim::default()
                    },
                    Prim { name: "Second".into(), type_name: "Scope".into(), ..Prim::default() },
                ],
                ..Prim::default()
            },
            Prim { name: "Pattern".into(), specifier: Specifier::Class, ..Prim::default() },
        ],
        ..Layer::default()
    }
}
