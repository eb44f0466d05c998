//! The layers that declarations are made of. All take and give four columns, so that any follows
//! any.

use crate::random::{Random, snake};

/// A declaration that is written.
#[derive(Clone)]
pub struct Declared {
    pub name: String,
    pub builder: String,
    /// Whether inference and training give the same.
    pub stateless: bool,
    /// How many layers run in it, to bound what nests.
    pub weight: usize,
    /// Whether it is a module of dtype and device that can stand in a field.
    pub nests: bool,
}

/// What is in a field.
#[derive(Clone)]
pub struct Layer {
    pub ty: String,
    pub stateless: bool,
    pub weight: usize,
    /// The number of layers that can be cut into segments, if it can.
    pub run: Option<usize>,
    /// Declarations inside, which the plain side calls by their plain functions.
    inside: Inside,
}

#[derive(Clone)]
enum Inside {
    Nothing,
    One(String),
    Many(String),
}

impl Layer {
    fn plain(ty: &str, weight: usize, run: Option<usize>) -> Self {
        Self { ty: ty.to_owned(), stateless: true, weight, run, inside: Inside::Nothing }
    }

    /// Any layer, a declaration among them.
    pub fn any(random: &mut Random, declared: &[Declared]) -> Self {
        let small: Vec<_> = declared.iter().filter(|d| d.nests && d.weight <= 8).collect();
        match random.range(0, 11) {
            0 | 1 => Self::plain("Linear<4, 4, E, D>", 1, None),
            2 => Self::plain("(Linear<4, 4, E, D>, ReLU)", 2, Some(2)),
            3 => Self::plain("Residual<(Linear<4, 4, E, D>, Tanh)>", 2, None),
            4 => Self::plain("LayerNorm1D<4, E, D>", 1, None),
            5 => Self { stateless: false, ..Self::plain("BatchNorm1D<4, E, D>", 1, None) },
            6 => Self { stateless: false, ..Self::plain("(Linear<4, 4, E, D>, nn::Dropout)", 2, Some(2)) },
            7 => Self::plain("(Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>)", 3, Some(3)),
            8 => {
                let n = random.range(2, 3);
                Self::plain(&format!("Repeated<(Linear<4, 4, E, D>, Tanh), {n}>"), 2 * n, Some(n))
            }
            9 | 10 if !small.is_empty() => {
                let d = random.pick(&small);
                Self {
                    ty: format!("{}<E, D>", d.name),
                    stateless: d.stateless,
                    weight: d.weight,
                    run: None,
                    inside: Inside::One(d.name.clone()),
                }
            }
            11 if !small.is_empty() => {
                let (d, n) = (random.pick(&small), random.range(2, 3));
                Self {
                    ty: format!("Repeated<{}<E, D>, {n}>", d.name),
                    stateless: d.stateless,
                    weight: n * d.weight,
                    run: Some(n),
                    inside: Inside::Many(d.name.clone()),
                }
            }
            _ => Self::plain("Tanh", 1, None),
        }
    }

    /// A run of equal blocks.
    pub fn blocks(random: &mut Random, declared: &[Declared]) -> Self {
        loop {
            let layer = Self::any(random, declared);
            if layer.ty.starts_with("Repeated") {
                return layer;
            }
        }
    }

    /// An expression of type `Traced` for this layer at the place `m.field` on the taped value `x`.
    pub fn plain_call(&self, field: &str, x: &str) -> String {
        match &self.inside {
            Inside::Nothing => format!("m.{field}.try_forward_mut({x})?"),
            Inside::One(name) => format!("{}(&mut m.{field}, {x})?", snake(name)),
            Inside::Many(name) => format!("many(&mut m.{field}, {x}, {})?", snake(name)),
        }
    }

    /// The same for one block of a run, at the variable `block`.
    pub fn plain_block_call(&self, x: &str) -> String {
        match &self.inside {
            Inside::Many(name) => format!("{}(block, {x})?", snake(name)),
            _ => format!("block.try_forward_mut({x})?"),
        }
    }
}
