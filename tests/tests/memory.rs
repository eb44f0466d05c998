//! Memory, counted to the byte by a global allocator of this binary's own.
//!
//! One test runs all measurements one after the other: the counters are the process's, and a test
//! beside it, or the harness starting one, would be counted too.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use ckpt_runtime::{
    __private::{call_mut, enter, field_mut, leave, lend, segments_mut},
    Checkpoint, Concat, Policy, Scoped, Segments, Sequential, SharedTape, Site,
    memory::{self, CountingAllocator},
    nn, region, with_policy,
};
use dfdx::{prelude::*, tensor::CpuError};
use tests::{
    compare::noise,
    layers::{Does, Probe},
};

/// Counts calls, below the counter of bytes.
struct Tally;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Tally {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator<Tally> = CountingAllocator::new(Tally);

type E = f32;
type D = Cpu;
const WIDTH: usize = 16;
const BATCH: usize = 256;
const DEPTH: usize = 12;
/// One activation.
const ROWS: usize = BATCH * WIDTH * size_of::<E>();
type Rows = Rank2<BATCH, WIDTH>;
type Bare = Tensor<Rows, E, D>;
type Taped = Tensor<Rows, E, D, OwnedTape<E, D>>;
type Block = (Linear<WIDTH, WIDTH>, Tanh, BatchNorm1D<WIDTH>, Tanh, Residual<(Linear<WIDTH, WIDTH>, Sigmoid)>);
type Deep = Repeated<Block, DEPTH>;
/// For what is run hundreds of times, a few numbers do.
const FEW: usize = 4;
type FewRows = Rank2<FEW, FEW>;
type FewTaped = Tensor<FewRows, E, D, OwnedTape<E, D>>;
type FewShared = Tensor<FewRows, E, D, SharedTape<E, D>>;
type FewBlock = (Linear<FEW, FEW>, Tanh, BatchNorm1D<FEW>, Tanh, Residual<(Linear<FEW, FEW>, Sigmoid)>);
type Built<B> = <B as BuildOnDevice<D, E>>::Built;

static BLOCKS: Site = Site::new("Model.blocks");
static SITE: Site = Site::new("Model.field");

fn dev() -> Cpu {
    Cpu::seed_from_u64(3)
}

fn rows() -> Bare {
    noise(&dev(), Rows::default(), -1.0, 1.0)
}

fn few_rows() -> Tensor<FewRows, E, D> {
    noise(&dev(), FewRows::default(), -1.0, 1.0)
}

/// The peak above the start of the last of three steps.
fn peak<M>(mut model: M, mut forward: impl FnMut(&mut M, Taped) -> Taped) -> usize
where
    M: TensorCollection<E, D>,
{
    let x = rows();
    let mut peak = 0;
    for _ in 0..3 {
        memory::reset_peak();
        let before = memory::live_bytes();
        let traced = x.trace(model.alloc_grads());
        let gradients = forward(&mut model, traced).square().mean().backward();
        peak = memory::peak_bytes() - before;
        drop(gradients);
    }
    peak
}

fn peaks_fall_as_stated() {
    let deep = || dev().build_module::<Deep, E>();
    let cut = |policy: Policy, segments| {
        peak(deep(), move |m, x| with_policy(policy.clone(), || segments_mut(&BLOCKS, segments, m, x)).unwrap())
    };
    let dfdx = peak(deep(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let plain = cut(Policy::plain(), Segments::Each);
    let keep = cut(Policy::keep(), Segments::Each);
    let each = cut(Policy::checkpoint(), Segments::Each);
    let four = cut(Policy::checkpoint(), Segments::Count(4));
    println!("peaks: dfdx {dfdx}, plain {plain}, keep {keep}, each {each}, four segments {four} bytes");

    // The plain mode adds nothing but the table of what it runs.
    assert!(plain <= dfdx + 8192, "{plain} {dfdx}");
    // Temporary gradients are about half of what plain dfdx holds.
    assert!(keep * 10 < plain * 7, "{keep} {plain}");
    assert!(four * 10 < keep * 7, "{four} {keep}");
    // One block's inside, its gradients, and a boundary a block.
    assert!(each * 10 < keep * 5, "{each} {keep}");
    assert!(each < four && each < plain / 3, "{each} {four} {plain}");

    // As combinators.
    let combined = peak(
        dev().build_module::<Repeated<Checkpoint<Block>, DEPTH>, E>(),
        ckpt_runtime::prelude::ModuleMut::forward_mut,
    );
    assert!(combined.abs_diff(each) < 8192, "{combined} {each}");
    let scoped =
        peak(dev().build_module::<Repeated<Scoped<Block>, DEPTH>, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    assert!(scoped.abs_diff(keep) < 8192, "{scoped} {keep}");

    // Segments in a checkpointed half: what is nested is not kept while the other half runs.
    type Half = Repeated<Checkpoint<Block>, 6>;
    let nested = peak(
        dev().build_module::<(Checkpoint<Half>, Checkpoint<Half>), E>(),
        ckpt_runtime::prelude::ModuleMut::forward_mut,
    );
    assert!(nested < each, "{nested} {each}");
}

/// Kind of fault: more memory than without. One layer, one region, around everything.
fn never_more_memory_than_without() {
    let plain = peak(dev().build_module::<Block, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let region = peak(dev().build_module::<Checkpoint<Block>, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let kept = peak(dev().build_module::<Scoped<Block>, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let linear = peak(dev().build_module::<Linear<WIDTH, WIDTH>, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let small = peak(
        dev().build_module::<Checkpoint<Linear<WIDTH, WIDTH>>, E>(),
        ckpt_runtime::prelude::ModuleMut::forward_mut,
    );
    println!(
        "one block: plain {plain}, checkpoint {region}, keep {kept}; a linear layer: plain {linear}, checkpoint {small}"
    );
    let bookkeeping = 8192;
    assert!(region <= plain + bookkeeping, "{region} {plain}");
    assert!(kept <= plain + bookkeeping, "{kept} {plain}");
    assert!(small <= linear + bookkeeping, "{small} {linear}");
}

/// Live bytes after `warm` calls, and after `times` more.
fn growth(warm: usize, times: usize, mut step: impl FnMut()) -> isize {
    (0..warm).for_each(|_| step());
    let before = memory::live_bytes();
    (0..times).for_each(|_| step());
    memory::live_bytes() as isize - before as isize
}

/// Kind of fault: buffers of the recompute never freed.
fn live_bytes_return_after_every_step() {
    let modes = [
        ("no policy", None),
        ("plain", Some(Policy::plain())),
        ("keep", Some(Policy::keep())),
        ("checkpoint", Some(Policy::checkpoint())),
        ("segments", Some(Policy::segments(2))),
        ("each", Some(Policy::each())),
        ("verify", Some(Policy::checkpoint().verify(0.0))),
    ];
    for (name, policy) in modes {
        let under = |f: &mut dyn FnMut()| match policy.clone() {
            Some(policy) => with_policy(policy, f),
            None => f(),
        };
        type Three = Repeated<FewBlock, 3>;
        let mut model = dev().build_module::<Three, E>();
        let x = few_rows();
        let trained = growth(3, 100, || {
            let mut gradients = model.alloc_grads();
            for _ in 0..2 {
                under(&mut || {
                    let taken = std::mem::replace(&mut gradients, Gradients::leaky());
                    let y: FewTaped = segments_mut(&BLOCKS, Segments::Count(3), &mut model, x.trace(taken)).unwrap();
                    gradients = y.square().mean().backward();
                });
            }
            tests::compare::descend(&mut model, &gradients, 1e-3);
        });
        assert_eq!(trained, 0, "{name}: trained");

        let dropped = growth(3, 100, || {
            under(&mut || {
                let y: FewTaped = segments_mut(&BLOCKS, Segments::Count(3), &mut model, x.leaky_trace()).unwrap();
                drop(y.square().sum::<Rank0, _>());
            });
        });
        assert_eq!(dropped, 0, "{name}: a tape dropped without backward");

        type Nested = Checkpoint<(FewBlock, Checkpoint<(FewBlock, Scoped<(Tanh, Checkpoint<FewBlock>)>)>)>;
        let mut model = dev().build_module::<Nested, E>();
        let nested = growth(3, 100, || {
            under(&mut || drop(model.forward_mut(x.leaky_trace()).square().mean().backward()));
        });
        assert_eq!(nested, 0, "{name}: nested");
    }

    // On a shared tape, with regions whose outputs are aliased, handed through and dropped.
    let mut model = dev().build_module::<FewBlock, E>();
    let x = few_rows();
    let mut forward = |backward: bool| {
        let tape = SharedTape::open();
        let h: FewShared = enter(x.leaky_trace(), &tape);
        let parameters = (lend!(E, D, &mut model),);
        let (h, same, dropped) = region(&SITE, &tape, parameters, (h.clone(), h), |tape, (m,), (x, same)| {
            let h = call_mut(tape, m, x)?;
            Ok((h.clone(), same, h))
        })
        .unwrap();
        drop(dropped);
        let y: FewTaped = leave::<E, D, _>(h * same, tape).unwrap();
        let loss = y.square().mean();
        if backward {
            loss.backward();
        }
    };
    assert_eq!(growth(3, 100, || forward(true)), 0, "on a shared tape");
    assert_eq!(growth(3, 100, || forward(false)), 0, "a shared tape dropped without backward");
}

/// Dropout's masks are made by rayon's threads, whose queues keep blocks of their own for a while.
fn live_bytes_return_with_parallel_layers() {
    type Model = Checkpoint<(Linear<FEW, FEW>, nn::Dropout, Checkpoint<(Linear<FEW, FEW>, nn::Dropout)>)>;
    let mut model = dev().build_module::<Model, E>();
    let x = few_rows();
    let grown = growth(50, 100, || drop(model.forward_mut(x.leaky_trace()).square().mean().backward()));
    assert!(grown.unsigned_abs() < 16 * 1024, "{grown} bytes in 100 steps");
}

/// Errors and panics leave no bytes either.
fn live_bytes_return_after_failures() {
    let x = few_rows();
    let linear = dev().build_module::<Linear<FEW, FEW>, E>();
    for call in 0..3 {
        let grown = growth(3, 20, || {
            let mut model = Checkpoint((linear.clone(), Checkpoint((Tanh, Probe::after(call, Does::Fail)))));
            let loss = model.try_forward_mut(x.leaky_trace()).map(|y: FewTaped| y.sum());
            let result: Result<(), CpuError> = loss.and_then(|l| l.try_backward().map(drop));
            assert!(result.is_err());
        });
        assert_eq!(grown, 0, "an error in call {call}");
    }
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for call in 0..3 {
        let grown = growth(3, 20, || {
            let model = Checkpoint((linear.clone(), Checkpoint((Tanh, Probe::after(call, Does::Panic)))));
            let step = AssertUnwindSafe(|| {
                let mut model = model;
                model.forward_mut(x.leaky_trace()).sum().backward();
            });
            assert!(catch_unwind(step).is_err());
        });
        assert_eq!(grown, 0, "a panic in call {call}");
    }
    std::panic::set_hook(hook);
}

/// What a forward leaves behind, above the start, while its output lives.
fn stored<M>(model: &mut M, forward: impl Fn(&mut M, Taped) -> Taped) -> usize {
    let mut bytes = 0;
    for _ in 0..2 {
        let before = memory::live_bytes();
        let y = forward(model, rows().leaky_traced());
        bytes = memory::live_bytes() - before;
        drop(y);
    }
    bytes
}

/// The input and the output, and a few hundred bytes; not the nine activations between.
fn a_checkpoint_stores_its_boundary_only() {
    let plain = stored(&mut dev().build_module::<Block, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    assert!(plain > 6 * ROWS, "the block has activations to store: {plain}");
    let region =
        stored(&mut dev().build_module::<Checkpoint<Block>, E>(), ckpt_runtime::prelude::ModuleMut::forward_mut);
    let (boundary, bookkeeping) = (2 * ROWS, 4096);
    assert!((boundary..boundary + bookkeeping).contains(&region), "{region}, of which the boundary is {boundary}");

    // A chain of regions: each one's output is the next one's input.
    let mut deep = dev().build_module::<Repeated<Block, 4>, E>();
    let chain = stored(&mut deep, |m, x| segments_mut(&BLOCKS, Segments::Each, m, x).unwrap());
    let boundaries = 5 * ROWS;
    assert!(
        (boundaries..boundaries + 4 * bookkeeping).contains(&chain),
        "{chain}, of which the boundaries are {boundaries}"
    );

    // Nested: the inner boundary is not stored.
    let nested = stored(&mut dev().build_module::<Checkpoint<(Checkpoint<Block>, Checkpoint<Block>)>, E>(), |m, x| {
        m.forward_mut(x)
    });
    assert!((boundary..boundary + bookkeeping).contains(&nested), "{nested}");

    // Dropout stores a seed, not a mask.
    let dropout = stored(
        &mut dev().build_module::<Checkpoint<(nn::Dropout, nn::Dropout)>, E>(),
        ckpt_runtime::prelude::ModuleMut::forward_mut,
    );
    assert!((boundary..boundary + bookkeeping).contains(&dropout), "{dropout}");
}

/// Allocations and bytes at the peak of one call.
fn costs<X: Clone, Y>(x: &X, mut call: impl FnMut(X) -> Y) -> (usize, usize) {
    drop(call(x.clone()));
    let input = x.clone();
    memory::reset_peak();
    let (calls, before) = (CALLS.load(Relaxed), memory::live_bytes());
    let y = call(input);
    let spent = (CALLS.load(Relaxed) - calls, memory::peak_bytes() - before);
    drop(y);
    spent
}

/// To the allocation and to the byte.
fn inference_costs_what_the_bare_module_costs() {
    let x = rows();
    type Layers = (Linear<WIDTH, WIDTH>, Tanh, BatchNorm1D<WIDTH>, nn::Dropout, Linear<WIDTH, WIDTH>, Sigmoid);
    let bare: Built<Layers> = dev().build_module::<Layers, E>();
    let expected = costs(&x, |x| bare.forward(x));
    assert!(expected.0 > 0);

    let region = Checkpoint(Scoped(Checkpoint(bare.clone())));
    assert_eq!(costs(&x, |x| region.forward(x)), expected, "combinators");
    assert_eq!(costs(&x, |x| ckpt_runtime::__private::field_ref(&SITE, &bare, x).unwrap()), expected, "a field");
    let sequence = Sequential::<3, _>(bare.clone());
    assert_eq!(costs(&x, |x| sequence.forward(x)), expected, "a sequence");
    let (a, b, c, d, e, f) = bare.clone();
    let grouped = Sequential::<3, _>(Concat((a, b), Concat((c, d), (e, f))));
    assert_eq!(costs(&x, |x| grouped.forward(x)), expected, "a long sequence");

    let blocks = dev().build_module::<Repeated<(Linear<WIDTH, WIDTH>, Tanh), 4>, E>();
    let expected = costs(&x, |x| blocks.forward(x));
    let cut = |x| ckpt_runtime::__private::segments_ref::<E, D, _, _>(&BLOCKS, Segments::Each, &blocks, x).unwrap();
    assert_eq!(costs(&x, cut), expected, "a cut field");
    let mut linear = dev().build_module::<Linear<WIDTH, WIDTH>, E>();
    let expected = costs(&x, |x| linear.forward(x));
    assert_eq!(costs(&x, |x| field_mut(&SITE, &mut linear, x).unwrap()), expected, "a field through `&mut`");
}

#[test]
fn memory() {
    // Threads, thread-locals and the harness's output are allocated before anything is counted.
    println!("memory of the run time, in bytes");
    peaks_fall_as_stated();
    never_more_memory_than_without();
    live_bytes_return_after_every_step();
    live_bytes_return_with_parallel_layers();
    live_bytes_return_after_failures();
    a_checkpoint_stores_its_boundary_only();
    inference_costs_what_the_bare_module_costs();
}
