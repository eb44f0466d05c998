//! A struct with a forward of its own: random data flow, with regions around random parts of it.
//!
//! A forward is a list of statements, each of which makes one value from earlier ones; value 0 is
//! the input. It is written twice: as a user of the macros does, and on dfdx's plain tape, which is
//! handed from statement to statement.

use std::fmt::Write;

use crate::{
    layer::{Declared, Layer},
    random::{Random, snake},
};

const UNARY: &[&str] = &["tanh", "sin", "sigmoid", "cos", "relu", "square"];
const BINARY: &[(&str, &str)] = &[("+", "try_add"), ("+", "try_add"), ("-", "try_sub"), ("*", "try_mul")];
const REGIONS: &[&str] = &["", "", "", "", "(verify)", "(keep)", "(plain)", "(name = \"part\")"];

/// What a statement does with earlier values.
#[derive(Clone)]
enum Op {
    Call {
        field: usize,
        x: usize,
    },
    Helper {
        x: usize,
    },
    Unary {
        function: &'static str,
        x: usize,
    },
    Binary {
        operator: usize,
        a: usize,
        b: usize,
    },
    Scale {
        x: usize,
    },
    /// A layer on a function of `x`, and `a`, in one expression; `a` may be `x`.
    Nested {
        operator: usize,
        a: usize,
        first: bool,
        field: usize,
        function: &'static str,
        x: usize,
    },
    /// Adds or multiplies a function of the parameter.
    Parameter {
        operator: usize,
        function: Option<&'static str>,
        x: usize,
    },
    /// One of two by the gate.
    Branch {
        field: usize,
        function: &'static str,
        x: usize,
    },
    /// A run of blocks, each on the one before it, `mixed` with what went in.
    Loop {
        field: usize,
        x: usize,
        mark: String,
        mixed: bool,
    },
}

impl Op {
    fn uses(&self) -> Vec<usize> {
        match *self {
            Self::Binary { a, b, .. } => vec![a, b],
            Self::Nested { a, x, .. } => vec![a, x],
            Self::Call { x, .. }
            | Self::Helper { x }
            | Self::Unary { x, .. }
            | Self::Scale { x }
            | Self::Parameter { x, .. }
            | Self::Branch { x, .. }
            | Self::Loop { x, .. } => vec![x],
        }
    }
}

struct Model {
    layers: Vec<Layer>,
    helper: usize,
    ops: Vec<Op>,
    fallible: bool,
}

pub fn write(random: &mut Random, name: &str, declared: &[Declared], out: &mut String) -> Declared {
    // A forward without any region is refused: draw again.
    let (model, forward) = loop {
        let model = Model::random(random, declared);
        let forward = model.checkpointed(random, name);
        if forward.contains("#[checkpoint]") || forward.contains("#[checkpoint(") {
            break (model, forward);
        }
    };
    model.declare(random, name, out);
    out.push_str(&forward);
    model.plain(name, out);
    Declared {
        name: name.to_owned(),
        builder: format!("{name}Builder"),
        stateless: model.layers.iter().all(|l| l.stateless),
        weight: model.layers.iter().map(|l| l.weight).sum::<usize>() + model.ops.len(),
        nests: true,
    }
}

impl Model {
    fn random(random: &mut Random, declared: &[Declared]) -> Self {
        let mut layers: Vec<_> = (0..random.range(2, 3)).map(|_| Layer::any(random, declared)).collect();
        if random.once_in(3) {
            layers.push(Layer::blocks(random, declared));
        }
        let helper = random.range(0, layers.len() - 1);
        let ops = (0..random.range(3, 8)).map(|n| Self::op(random, &layers, n)).collect();
        Self { layers, helper, ops, fallible: random.once_in(4) }
    }

    /// Statement `n`, which may use values 0 to `n`, the latest most.
    fn op(random: &mut Random, layers: &[Layer], n: usize) -> Op {
        let latest = if random.once_in(3) { random.range(0, n) } else { n };
        let field = random.range(0, layers.len() - 1);
        let (operator, function) = (random.range(0, BINARY.len() - 1), *random.pick(UNARY));
        match random.range(0, 16) {
            0..=3 => match layers[field].run {
                Some(n) if layers[field].ty.starts_with("Repeated") => {
                    let mark = match random.range(0, 3) {
                        0 => String::new(),
                        1 => "#[checkpoint]".to_owned(),
                        2 => "#[checkpoint(each)]".to_owned(),
                        _ => format!("#[checkpoint(segments = {})]", random.range(1, n)),
                    };
                    Op::Loop { field, x: latest, mark, mixed: random.once_in(2) }
                }
                _ => Op::Call { field, x: latest },
            },
            4 => Op::Helper { x: latest },
            5 | 6 => Op::Unary { function, x: latest },
            7 => Op::Scale { x: latest },
            8 => Op::Parameter { operator, function: None, x: latest },
            9 => Op::Parameter { operator, function: Some(function), x: latest },
            10 => Op::Branch { field, function, x: latest },
            11..=13 => {
                Op::Nested { operator, a: random.range(0, n), first: random.once_in(2), field, function, x: latest }
            }
            // dfdx's backward refuses a tensor with itself.
            _ => match random.range(0, n) {
                b if b == latest => Op::Unary { function, x: latest },
                b => Op::Binary { operator, a: latest, b },
            },
        }
    }

    fn declare(&self, random: &mut Random, name: &str, out: &mut String) {
        writeln!(out, "\n#[checkpointed(forward = custom)]\n#[derive(Clone, Debug)]").unwrap();
        writeln!(out, "pub struct {name}<E: Dtype, D: Device<E>> {{").unwrap();
        for (n, layer) in self.layers.iter().enumerate() {
            writeln!(out, "    f{n}: {},", layer.ty).unwrap();
        }
        out.push_str("    #[param(init = small)]\n    p: Tensor<Rank1<4>, E, D>,\n");
        writeln!(out, "    #[scalar(default = {}.0)]\n    gate: f64,\n}}", random.range(0, 1)).unwrap();
    }

    // As a user writes it.

    fn checkpointed(&self, random: &mut Random, name: &str) -> String {
        const TENSOR: &str = "Tensor<(B, Const<4>), E, D>";
        let output = if self.fallible { format!("Result<{TENSOR}, D::Err>") } else { TENSOR.to_owned() };
        let mut out = String::new();
        writeln!(out, "\n#[checkpointed]\nimpl<E: Dtype, D: Device<E>> {name}<E, D> {{").unwrap();
        writeln!(out, "    fn forward<B: Dim>(&self, v0: {TENSOR}) -> {output} {{").unwrap();
        self.pieces(random, (0, self.ops.len()), 2, &mut out);
        let last = self.ops.len();
        writeln!(out, "        {}", if self.fallible { format!("Ok(v{last})") } else { format!("v{last}") }).unwrap();
        out.push_str("    }\n");
        if self.ops.iter().any(|op| matches!(op, Op::Helper { .. })) {
            writeln!(out, "\n    fn helper<B: Dim>(&self, x: {TENSOR}) -> {TENSOR} {{").unwrap();
            writeln!(out, "        let y = self.f{}.forward(x.sin());\n        x + y\n    }}", self.helper).unwrap();
        }
        out.push_str("}\n");
        out
    }

    /// Statements `from..to`, some of them in regions, which may hold others `deep`er.
    fn pieces(&self, random: &mut Random, (from, to): (usize, usize), deep: usize, out: &mut String) {
        let pad = "    ".repeat(4 - deep);
        let mut at = from;
        while at < to {
            let length = random.range(1, 3).min(to - at);
            let whole = from == 0 && to == self.ops.len() && length == to - from;
            if deep == 0 || whole || random.once_in(2) {
                self.statements((at, at + 1), &pad, out);
                at += 1;
                continue;
            }
            let end = at + length;
            // What later statements use, or the forward's end; all of it dead is possible too.
            let live: Vec<_> = (at + 1..=end)
                .filter(|v| *v == self.ops.len() || self.ops[end..].iter().any(|op| op.uses().contains(v)))
                .collect();
            let options = random.pick(REGIONS);
            match &live[..] {
                [] => self.statements((at, end), &pad, out),
                [one] if length == 1 && !matches!(self.ops[at], Op::Loop { .. }) => {
                    writeln!(out, "{pad}#[checkpoint{options}]\n{pad}let v{one} = {};", self.expression(at)).unwrap();
                }
                several => {
                    let names: Vec<_> = several.iter().map(|v| format!("v{v}")).collect();
                    let tuple = match &names[..] {
                        [one] => one.clone(),
                        several => format!("({})", several.join(", ")),
                    };
                    writeln!(out, "{pad}#[checkpoint{options}]\n{pad}let {tuple} = {{").unwrap();
                    self.pieces(random, (at, end), deep - 1, out);
                    writeln!(out, "{pad}    {tuple}\n{pad}}};").unwrap();
                }
            }
            at = end;
        }
    }

    fn statements(&self, (from, to): (usize, usize), pad: &str, out: &mut String) {
        for n in from..to {
            let v = n + 1;
            if let Op::Loop { field, x, mark, mixed } = &self.ops[n] {
                writeln!(out, "{pad}let mut v{v} = v{x};").unwrap();
                if !mark.is_empty() {
                    writeln!(out, "{pad}{mark}").unwrap();
                }
                let mixed = if *mixed { format!(" + v{x}") } else { String::new() };
                writeln!(out, "{pad}for block in &self.f{field} {{").unwrap();
                writeln!(out, "{pad}    v{v} = block.forward(v{v}){mixed};\n{pad}}}").unwrap();
            } else {
                writeln!(out, "{pad}let v{v} = {};", self.expression(n)).unwrap();
            }
        }
    }

    fn expression(&self, n: usize) -> String {
        match &self.ops[n] {
            Op::Call { field, x } if self.fallible => format!("self.f{field}.try_forward(v{x})?"),
            Op::Call { field, x } => format!("self.f{field}.forward(v{x})"),
            Op::Helper { x } => format!("self.helper(v{x})"),
            Op::Unary { function, x } if self.fallible => format!("v{x}.try_{function}()?"),
            Op::Unary { function, x } => format!("v{x}.{function}()"),
            Op::Binary { operator, a, b } => format!("v{a} {} v{b}", BINARY[*operator].0),
            Op::Nested { operator, a, first, field, function, x } => {
                let operator = BINARY[*operator].0;
                let layer = if self.fallible {
                    format!("self.f{field}.try_forward(v{x}.try_{function}()?)?")
                } else {
                    format!("self.f{field}.forward(v{x}.{function}())")
                };
                if *first { format!("v{a} {operator} {layer}") } else { format!("{layer} {operator} v{a}") }
            }
            Op::Scale { x } => format!("v{x} * E::from_f64(0.75).unwrap()"),
            Op::Parameter { operator, function, x } => {
                let function = function.map(|f| format!(".{f}()")).unwrap_or_default();
                format!("v{x} {} self.p.clone(){function}.broadcast_like(v{x}.shape())", BINARY[*operator].0)
            }
            Op::Branch { field, function, x } => {
                format!("if self.gate > 0.5 {{ self.f{field}.forward(v{x}) }} else {{ v{x}.{function}() }}")
            }
            Op::Loop { .. } => unreachable!("a loop is no expression"),
        }
    }

    // On dfdx's plain tape.

    fn plain(&self, name: &str, out: &mut String) {
        writeln!(out, "\nfn {}(m: &mut {name}<f32, Cpu>, x: Traced) -> Forward {{", snake(name)).unwrap();
        out.push_str("    let (v0, t) = x.split_tape();\n");
        for (n, op) in self.ops.iter().enumerate() {
            self.plain_statement(op, n + 1, out);
        }
        writeln!(out, "    Ok(v{}.put_tape(t))\n}}", self.ops.len()).unwrap();
    }

    fn plain_statement(&self, op: &Op, v: usize, out: &mut String) {
        let on = |x: &usize| format!("v{x}.clone().put_tape(t)");
        let value = match op {
            Op::Call { field, x } => self.layers[*field].plain_call(&format!("f{field}"), &on(x)),
            Op::Helper { x } => {
                let call = self.layers[self.helper].plain_call(&format!("f{}", self.helper), "s");
                writeln!(out, "    let s = {}.try_sin()?;", on(x)).unwrap();
                writeln!(out, "    let (s, t) = {call}.split_tape();").unwrap();
                format!("{}.try_add(s)?", on(x))
            }
            Op::Unary { function, x } => format!("{}.try_{function}()?", on(x)),
            Op::Binary { operator, a, b } => format!("{}.{}(v{b}.clone())?", on(a), BINARY[*operator].1),
            Op::Nested { operator, a, first, field, function, x } => {
                let call = self.layers[*field].plain_call(&format!("f{field}"), "n");
                writeln!(out, "    let n = {}.try_{function}()?;\n    let (n, t) = {call}.split_tape();", on(x))
                    .unwrap();
                let method = BINARY[*operator].1;
                if *first {
                    format!("{}.{method}(n)?", on(a))
                } else {
                    format!("n.put_tape(t).{method}(v{a}.clone())?")
                }
            }
            Op::Scale { x } => format!("{}.try_mul(0.75)?", on(x)),
            Op::Parameter { operator, function, x } => {
                match function {
                    Some(f) => {
                        writeln!(out, "    let (p, t) = m.p.clone().put_tape(t).try_{f}()?.split_tape();").unwrap();
                    }
                    None => out.push_str("    let p = m.p.clone();\n"),
                }
                format!("{}.{}(p.broadcast_like(v{x}.shape()))?", on(x), BINARY[*operator].1)
            }
            Op::Branch { field, function, x } => {
                let call = self.layers[*field].plain_call(&format!("f{field}"), &on(x));
                format!("if m.gate > 0.5 {{ {call} }} else {{ {}.try_{function}()? }}", on(x))
            }
            Op::Loop { field, x, mixed, .. } => {
                let call = self.layers[*field].plain_block_call("y");
                writeln!(out, "    let mut y = {};", on(x)).unwrap();
                writeln!(out, "    for block in &mut m.f{field}.modules {{\n        y = {call};").unwrap();
                if *mixed {
                    writeln!(out, "        y = y.try_add(v{x}.clone())?;").unwrap();
                }
                out.push_str("    }\n");
                "y".to_owned()
            }
        };
        if value.starts_with("if ") {
            writeln!(out, "    let y = {value};\n    let (v{v}, t) = y.split_tape();").unwrap();
        } else {
            writeln!(out, "    let (v{v}, t) = {value}.split_tape();").unwrap();
        }
    }
}
