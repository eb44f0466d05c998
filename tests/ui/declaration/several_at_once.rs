//! All that is wrong in a declaration is said in one go.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(bulder = Net)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 0, eech)]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(keep, plain)]
    b: Linear<4, 4, E, D>,
    #[checkpoint]
    c: u64,
}

fn main() {
    // The model can be used all the same: no second message at each use.
    let dev: Cpu = Default::default();
    let _ = dev.build_module::<ModelBuilder, f32>();
}
