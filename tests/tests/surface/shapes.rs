//! The forms that a declaration may take: names, visibilities, generics, conditions, places.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use std::marker::PhantomData;

use crate::same::{rows, trains_as};

type Layer<E, D> = (modules::Linear<4, 4, E, D>, Tanh);

/// Generics in another order and by other names, with bounds in a where-clause.
#[derive(Clone, Debug)]
#[checkpointed(dtype = Float, device = Dev, builder = Elsewhere)]
pub(crate) struct Renamed<Dev, const N: usize, Float>
where
    Float: Dtype,
    Dev: Device<Float>,
{
    #[checkpoint]
    pub(crate) a: modules::Linear<N, N, Float, Dev>,
    /// Its name is a keyword.
    #[checkpoint]
    r#type: modules::Linear<N, N, Float, Dev>,
}

/// Bounds that say the roles, whatever the names.
#[checkpointed]
#[derive(Clone, Debug)]
struct ByBounds<Q: Device<P>, P: Dtype>(#[checkpoint] modules::Linear<4, 4, P, Q>, pub modules::Linear<4, 4, P, Q>);

#[test]
fn generics_of_any_name_and_order() {
    trains_as(
        |dev| dev.build_module::<(Elsewhere<4>, ByBoundsBuilder), f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.0.r#type.try_forward_mut(m.0.a.try_forward_mut(x)?)?;
            m.1.1.try_forward_mut(m.1.0.try_forward_mut(x)?)
        },
    );
}

/// Children that the user of the struct chooses.
#[checkpointed]
#[derive(Clone, Debug)]
struct Around<F, G, E: Dtype, D: Device<E>> {
    #[checkpoint]
    inner: Residual<F>,
    #[checkpoint(segments = 1)]
    pair: (G, Tanh),
    last: F,
    #[skip]
    nothing: PhantomData<(E, D)>,
}

#[test]
fn children_are_generic() {
    type Net = AroundBuilder<Linear<4, 4>, (Linear<4, 4>, nn::Dropout)>;
    trains_as(
        |dev| dev.build_module::<Net, f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.pair.try_forward_mut(m.inner.try_forward_mut(x)?)?;
            m.last.try_forward_mut(x)
        },
    );
}

/// Fields and marks that are there or not.
#[checkpointed]
#[cfg_attr(test, derive(Clone, Debug))]
struct Conditional<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Layer<E, D>,
    #[cfg(not(test))]
    absent: NoSuchType<E, D>,
    #[cfg(test)]
    #[cfg_attr(test, checkpoint(verify))]
    #[cfg_attr(not(test), checkpoint(no_such_option))]
    b: Layer<E, D>,
}

#[test]
fn conditions_on_fields_are_resolved_first() {
    trains_as(
        |dev| dev.build_module::<ConditionalBuilder, f32>(),
        rows::<4, f32>,
        |m, x| m.b.try_forward_mut(m.a.try_forward_mut(x)?),
    );
}

mod outer {
    pub(super) mod inner {
        use ckpt_runtime::prelude::*;

        /// In a module of its own, and visible one up.
        #[checkpointed]
        #[derive(Clone, Debug)]
        pub(in crate::shapes) struct Hidden<E: Dtype, D: Device<E>> {
            #[checkpoint]
            pub(in crate::shapes) a: super::super::Layer<E, D>,
            pub(in crate::shapes) b: dfdx::nn::modules::Linear<4, 4, E, D>,
        }
    }
}

#[test]
fn in_a_module_of_its_own() {
    trains_as(
        |dev| dev.build_module::<outer::inner::HiddenBuilder, f32>(),
        rows::<4, f32>,
        |m: &mut outer::inner::Hidden<f32, Cpu>, x| m.b.try_forward_mut(m.a.try_forward_mut(x)?),
    );
}

#[test]
fn inside_a_function() {
    #[checkpointed]
    #[derive(Clone, Debug)]
    struct Local<E: Dtype, D: Device<E>> {
        #[checkpoint]
        a: Layer<E, D>,
        b: Layer<E, D>,
    }
    checkpoint_sequential! { each; struct Two { a: Linear<4, 4>, b: Tanh } }

    trains_as(
        |dev| dev.build_module::<(LocalBuilder, Two), f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.0.b.try_forward_mut(m.0.a.try_forward_mut(x)?)?;
            m.1.b.try_forward_mut(m.1.a.try_forward_mut(x)?)
        },
    );
}

/// More fields than dfdx visits in one tuple.
#[checkpointed]
#[derive(Clone, Debug)]
struct Many<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: modules::Linear<4, 4, E, D>,
    b: Tanh,
    c: modules::Linear<4, 4, E, D>,
    #[checkpoint]
    d: Tanh,
    e: modules::Linear<4, 4, E, D>,
    f: Tanh,
    #[checkpoint]
    g: modules::Linear<4, 4, E, D>,
    h: Tanh,
}

#[test]
fn more_fields_than_a_tuple_of_dfdx() {
    trains_as(
        |dev| dev.build_module::<ManyBuilder, f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.b.try_forward_mut(m.a.try_forward_mut(x)?)?;
            let x = m.d.try_forward_mut(m.c.try_forward_mut(x)?)?;
            let x = m.f.try_forward_mut(m.e.try_forward_mut(x)?)?;
            m.h.try_forward_mut(m.g.try_forward_mut(x)?)
        },
    );
}

/// A macro of the user's that declares models.
macro_rules! declared {
    ($Name:ident, $Layer:ty, $width:literal) => {
        #[checkpointed]
        #[derive(Clone, Debug)]
        struct $Name<E: Dtype, D: Device<E>> {
            #[checkpoint]
            a: modules::Linear<$width, $width, E, D>,
            b: $Layer,
        }
    };
}
declared!(Written, ReLU, 4);

#[test]
fn written_by_a_macro() {
    trains_as(
        |dev| dev.build_module::<WrittenBuilder, f32>(),
        rows::<4, f32>,
        |m, x| m.b.try_forward_mut(m.a.try_forward_mut(x)?),
    );
}
