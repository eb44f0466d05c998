//! A struct whose fields run in order.

use std::fmt::Write;

use crate::{
    layer::{Declared, Layer},
    random::{Random, snake},
};

pub fn write(random: &mut Random, name: &str, declared: &[Declared], out: &mut String) -> Declared {
    let layers: Vec<_> = (0..random.range(2, 5)).map(|_| Layer::any(random, declared)).collect();
    let marked = random.range(0, layers.len() - 1);
    let tuple = random.once_in(5);
    let policy = random.once_in(6);
    writeln!(out, "\n#[checkpointed]\n#[derive(Clone, Debug)]").unwrap();
    write!(out, "pub struct {name}<E: Dtype, D: Device<E>>{}", if tuple { "(\n" } else { " {\n" }).unwrap();
    for (n, layer) in layers.iter().enumerate() {
        let mark = mark(random, layer, n == marked);
        let field = if tuple { String::new() } else { format!("f{n}: ") };
        writeln!(out, "    {mark}{field}{},", layer.ty).unwrap();
    }
    if policy {
        writeln!(out, "    #[policy]\n    {}Policy,", if tuple { "" } else { "policy: " }).unwrap();
    }
    out.push_str(if tuple { ");\n" } else { "}\n" });

    writeln!(out, "\nfn {}(m: &mut {name}<f32, Cpu>, x: Traced) -> Forward {{", snake(name)).unwrap();
    for (n, layer) in layers.iter().enumerate() {
        let field = if tuple { n.to_string() } else { format!("f{n}") };
        writeln!(out, "    let x = {};", layer.plain_call(&field, "x")).unwrap();
    }
    out.push_str("    Ok(x)\n}\n");
    Declared {
        name: name.to_owned(),
        builder: format!("{name}Builder"),
        stateless: layers.iter().all(|l| l.stateless),
        weight: layers.iter().map(|l| l.weight).sum(),
        nests: true,
    }
}

fn mark(random: &mut Random, layer: &Layer, must: bool) -> String {
    if !must && random.once_in(4) {
        return String::new();
    }
    let mut options: Vec<String> = Vec::new();
    match layer.run {
        Some(_) if random.once_in(3) => options.push("each".to_owned()),
        Some(n) if random.once_in(2) => options.push(format!("segments = {}", random.range(1, n))),
        _ if !must && random.once_in(5) => return "#[checkpoint(plain)]\n    ".to_owned(),
        _ if random.once_in(5) => return "#[checkpoint(keep)]\n    ".to_owned(),
        _ => {}
    }
    if random.once_in(4) {
        options.push("verify".to_owned());
    }
    if random.once_in(6) {
        options.push("name = \"named\"".to_owned());
    }
    match options.join(", ") {
        none if none.is_empty() => "#[checkpoint]\n    ".to_owned(),
        some => format!("#[checkpoint({some})]\n    "),
    }
}
