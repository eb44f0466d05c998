//! Five different mistakes in a function are five messages, and the function can still be called.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint(verfy)]
fn faulty<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    println!("{x:?}");
    let h = a.forward(x).dropout(0.1);
    h.fill_with_zeros();
    std::thread::spawn(|| 1);
    h
}

fn main() {
    let dev: Cpu = Default::default();
    let a = dev.build_module::<builders::Linear<4, 4>, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _: Tensor<Rank1<4>, f32, _> = faulty(&a, x.clone());
    let _ = try_faulty(&a, x.leaky_trace());
}
