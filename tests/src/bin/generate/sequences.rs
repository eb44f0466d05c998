//! A sequence, as a type or as a struct.

use std::fmt::Write;

use crate::{
    layer::Declared,
    random::{Random, snake},
};

/// Builders, and whether inference and training give the same.
const LAYERS: &[(&str, bool)] = &[
    ("builders::Linear<4, 4>", true),
    ("builders::Linear<4, 4>", true),
    ("(builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>)", true),
    ("Tanh", true),
    ("Sigmoid", true),
    ("Residual<(builders::Linear<4, 4>, Tanh)>", true),
    ("builders::LayerNorm1D<4>", true),
    ("builders::BatchNorm1D<4>", false),
    ("nn::Dropout", false),
];

pub fn write(random: &mut Random, name: &str, out: &mut String) -> Declared {
    let n = random.range(2, 10);
    let layers: Vec<_> = (0..n).map(|_| *random.pick(LAYERS)).collect();
    let cut = if random.once_in(4) { "each".to_owned() } else { format!("segments = {}", random.range(1, n)) };
    let named = random.once_in(2);
    out.push('\n');
    if named {
        writeln!(out, "checkpoint_sequential! {{\n    {cut};\n    pub struct {name} {{").unwrap();
        for (i, (ty, _)) in layers.iter().enumerate() {
            writeln!(out, "        l{i}: {ty},").unwrap();
        }
        out.push_str("    }\n}\n");
    } else {
        writeln!(out, "pub type {name} = checkpoint_sequential!(\n    {cut},").unwrap();
        for (ty, _) in &layers {
            writeln!(out, "    {ty},").unwrap();
        }
        out.push_str(");\n");
    }
    let built = format!("Built<{name}>");
    writeln!(out, "\nfn {}(m: &mut {built}, x: Traced) -> Forward {{", snake(name)).unwrap();
    for i in 0..n {
        let layer = if named { format!("l{i}") } else { format!("0.{i}") };
        writeln!(out, "    let x = m.{layer}.try_forward_mut(x)?;").unwrap();
    }
    out.push_str("    Ok(x)\n}\n");
    Declared {
        name: name.to_owned(),
        builder: name.to_owned(),
        stateless: layers.iter().all(|(_, stateless)| *stateless),
        weight: n,
        nests: false,
    }
}
